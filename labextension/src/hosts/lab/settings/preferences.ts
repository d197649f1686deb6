/** The settings of JAXStage, as its features read them; a change takes effect at once. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from "@jupyterlab/application";
import { ISettingRegistry } from "@jupyterlab/settingregistry";
import { DisposableDelegate, type IDisposable } from "@lumino/disposable";
import { newPanels } from "../../../model/layout";
import { DEFAULTS, readPreferences } from "./readPreferences";
import { IPreferences, type Preferences } from "../tokens";

const ID = "jaxstage:settings";

class SettingsOfUser implements IPreferences {
  private now = DEFAULTS;
  private listeners = new Set<() => void>();

  get(): Preferences {
    return this.now;
  }

  set(now: Preferences): void {
    this.now = now;
    if (now.colours === "lines") delete document.body.dataset.jaxstageColours;
    else document.body.dataset.jaxstageColours = now.colours;
    newPanels.panes = now.panes.length ? now.panes : null;
    for (const listener of [...this.listeners]) listener();
  }

  onChange(listener: () => void): IDisposable {
    this.listeners.add(listener);
    return new DisposableDelegate(() => this.listeners.delete(listener));
  }
}

export const preferences: JupyterFrontEndPlugin<IPreferences> = {
  id: ID,
  description: "The settings of JAXStage.",
  autoStart: true,
  provides: IPreferences,
  optional: [ISettingRegistry],
  activate: (_app: JupyterFrontEnd, registry: ISettingRegistry | null): IPreferences => {
    const settings = new SettingsOfUser();
    void registry?.load(ID).then(
      (loaded) => {
        const read = () => settings.set(readPreferences(loaded.composite));
        loaded.changed.connect(read);
        read();
      },
      () => undefined, // a host without this schema has the defaults
    );
    return settings;
  },
};
