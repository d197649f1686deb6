import { deviceWords, lossWords, type Device, type TimelineHead } from "./tableRead";
import { percent } from "../../wire/figures";
import { Said } from "../../parts/said";

/** A device's window as a bar: busy, the part of it in exposed collectives, idle. */
function DeviceBar({ device }: { device: Device }) {
  const { busy, exposed, window } = device;
  const words = deviceWords(device);
  const whole = window ?? 0;
  const share = (part: number | null) => `${whole > 0 && part !== null ? Math.min(100, (100 * part) / whole) : 0}%`;
  const isKnown = busy !== null && whole > 0;
  return (
    <span class="jxs-tl-device" data-device={device.name} title={device.about ? `${words}. ${device.about}` : words}>
      <span class="jxs-tl-device-name jxs-cut">{device.name}</span>
      <span class="jxs-tl-share" role="img" aria-label={words}>
        {isKnown && <i data-part="busy" style={{ width: share(busy - (exposed ?? 0)) }} />}
        {isKnown && exposed ? <i data-part="exposed" style={{ width: share(exposed) }} /> : null}
      </span>
      <span class="jxs-dim jxs-tabular">{isKnown ? `busy ${percent(busy, whole)}` : "busy time unknown"}</span>
    </span>
  );
}

const MOST_BARS = 8;

/** What a tired reader needs: which line, how busy, and how much of it is known. */
export function Head({ head }: { head: TimelineHead }) {
  const more = head.devices.length - MOST_BARS;
  return (
    <div class="jxs-tl-head">
      {head.predicted && (
        <p class="jxs-tl-predicted jxs-anywhere" role="note">
          <Said text={head.predicted} />
        </p>
      )}
      <p class="jxs-headline jxs-anywhere" role="status">
        <Said text={head.headline} />
      </p>
      <div class="jxs-tl-facts jxs-strip">
        {head.devices.slice(0, MOST_BARS).map((device) => (
          <DeviceBar device={device} key={device.name} />
        ))}
        {more > 0 && <span class="jxs-dim">and {more} more devices</span>}
        {head.window && <span class="jxs-tabular jxs-anywhere">{head.window}</span>}
        {head.modes.map((mode) => (
          <span class="jxs-dim jxs-anywhere" key={mode}>
            {mode}
          </span>
        ))}
        <span class="jxs-tl-kept jxs-dim jxs-anywhere">{head.kept}</span>
        {head.losses.length > 0 && (
          <details class="jxs-tl-losses">
            <summary>{head.losses.length === 1 ? "1 loss" : `${head.losses.length} losses`}</summary>
            <ul>
              {head.losses.map((loss) => (
                <li class="jxs-anywhere" key={`${loss.text} ${loss.count}`}>
                  {lossWords(loss)}
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      {head.notes.map((note) => (
        <p class="jxs-note jxs-anywhere" key={note}>
          <Said text={note} />
        </p>
      ))}
    </div>
  );
}
