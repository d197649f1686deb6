import { useState } from "preact/hooks";
import type { Asked } from "./read";

interface Props {
  usual: Asked;
  button: string;
  onSearch: (asked: Asked) => void;
}

/** Which meshes are tried, and how long at most. */
export function SearchForm({ usual, button, onSearch }: Props) {
  const [mesh, setMesh] = useState(usual.mesh);
  const [budget, setBudget] = useState(String(usual.budget));
  const begin = (event: Event) => {
    event.preventDefault();
    onSearch({ mesh: mesh.trim(), budget: Math.max(0, Math.floor(Number(budget) || 0)) });
  };
  const keep = (event: KeyboardEvent) => event.stopPropagation();
  return (
    <form class="jxs-strip jxs-ss-form" onSubmit={begin} onKeyDown={keep}>
      <label>
        mesh{" "}
        <input type="text" spellcheck={false} placeholder="every mesh" value={mesh} title="Such as data=4,model=2; empty tries every mesh" onInput={(event) => setMesh((event.target as HTMLInputElement).value)} />
      </label>
      <label>
        at most{" "}
        <input type="number" min="1" step="1" value={budget} onInput={(event) => setBudget((event.target as HTMLInputElement).value)} /> s
      </label>
      <button type="submit" class="jxs-button jxs-boxed">
        {button}
      </button>
    </form>
  );
}
