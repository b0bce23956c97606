/* What lies over the page: the menu of a box, the export menu, the help. */
import { effect } from '@preact/signals-core';
import { render } from 'preact';
import { letters, panel, say } from '../state/store.ts';
import { copyCommand, copyLink, savePicture, saveTable } from './export.ts';
import { graph } from './flame.tsx';
import { keysShown } from './keys.ts';
import { closeMenu, type Item, menu } from './menu.tsx';
import { rows } from './table.tsx';
import { moreItems } from './tabs.tsx';

/* ---- menus ---- */

function walk(event: KeyboardEvent): void {
  const list = event.currentTarget as HTMLElement;
  const items = [...list.querySelectorAll<HTMLElement>('[role=menuitem]')];
  const now = items.indexOf(document.activeElement as HTMLElement);
  const to: Record<string, number> = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: items.length - 1 };
  const next = to[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    closeAll();
  } else if (next !== undefined) {
    event.preventDefault();
    items[(next + items.length) % items.length]?.focus();
  }
  event.stopPropagation();
}

/** The buttons of the menus. */
const buttons: Record<string, string> = { export: 'export-button', more: 'tab-more' };

function closeAll(): void {
  if (menu.value) closeMenu();
  const from = panel.value && buttons[panel.value];
  if (!from) return;
  panel.value = null;
  document.getElementById(from)?.focus();
}

function Menu({ items, name, x, y }: { items: Item[]; name: string; x: number; y: number }) {
  return (
    <ul role="menu" aria-label={name} class="menu" style={{ left: `${x}px`, top: `${y}px` }} onKeyDown={walk}>
      {items.map((item) => (
        <li role="none">
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => {
              closeAll();
              item.act();
            }}
          >
            {item.text}
            {item.key && <kbd>{item.key}</kbd>}
          </button>
        </li>
      ))}
    </ul>
  );
}

const EXPORTS: Item[] = [
  { text: 'Table as CSV', act: () => saveTable(rows.value) },
  { text: 'Flame graph as PNG', act: () => graph && savePicture(graph.canvas) },
  { text: 'Copy the command for this view', act: copyCommand },
  { text: 'Copy the link to this view', key: 'y', act: copyLink },
];

/** Moves a menu into the window, and gives its first entry the keyboard. */
function settle(host: HTMLElement): void {
  const list = host.querySelector<HTMLElement>('.menu');
  if (!list) return;
  const { width, height } = list.getBoundingClientRect();
  list.style.left = `${Math.max(4, Math.min(Number.parseFloat(list.style.left), document.documentElement.clientWidth - width - 16))}px`;
  list.style.top = `${Math.max(4, Math.min(Number.parseFloat(list.style.top), document.documentElement.clientHeight - height - 4))}px`;
  list.querySelector<HTMLElement>('[role=menuitem]')?.focus({ preventScroll: true });
}

/* ---- help ---- */

function Help() {
  return (
    <dialog id="help" aria-labelledby="help-title" onClose={() => (panel.value = null)}>
      <h2 id="help-title">Keys</h2>
      <div class="keys">
        {keysShown().map(({ title, keys }) => (
          <section>
            <h3>{title}</h3>
            <dl>
              {keys.map(({ shown, does }) => (
                <div>
                  <dt>
                    {shown.map((key) => (
                      <kbd>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p>
        <label class="check">
          <input type="checkbox" checked={letters.value} onChange={(event) => (letters.value = event.currentTarget.checked)} /> Single letters are keys
        </label>
      </p>
      <h2>Numbers</h2>
      <p>
        {say('numbers')}
      </p>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

export function followOverlay(): void {
  const host = document.getElementById('overlay')!;
  let shown: unknown = null;
  effect(() => {
    const open = menu.value;
    const what = panel.value;
    const button = what && buttons[what] ? document.getElementById(buttons[what])!.getBoundingClientRect() : null;
    render(
      <>
        {open && <Menu {...open} />}
        {button && <Menu name={what === 'more' ? 'More' : 'Export'} items={what === 'more' ? moreItems() : EXPORTS} x={button.left} y={button.bottom + 2} />}
        {what === 'help' && <Help />}
      </>,
      host,
    );
    const dialog = host.querySelector('dialog');
    if (dialog && !dialog.open) dialog.showModal();
    if (shown !== (open ?? what)) settle(host);
    shown = open ?? what;
  });
  document.addEventListener('pointerdown', (event) => {
    const target = event.target as HTMLElement;
    const isMenu = panel.value !== null && panel.value in buttons;
    if ((menu.value || isMenu) && !target.closest('.menu, #export-button, #tab-more')) {
      menu.value = null;
      if (isMenu) panel.value = null;
    }
  });
}
/* SPDX-License-Identifier: MIT */
