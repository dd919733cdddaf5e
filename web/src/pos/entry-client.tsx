import './styles/pos.css';
import { createRoot } from 'react-dom/client';
import { createServerClock } from '../shared/server-clock.ts';
import { ask } from './gateway.ts';
import type { PosState } from './page-state.ts';
import { createPos } from './pos.ts';
import { paidSignal } from './signal.ts';
import { App, OtherWindow } from './ui/app.tsx';
import { StateContext } from './ui/words.ts';

const root = document.getElementById('root');
const text = document.getElementById('state')?.textContent;
if (root !== null && text != null) void open(root, JSON.parse(text) as PosState);

async function open(element: HTMLElement, state: PosState): Promise<void> {
  // The token is kept in memory only, and removed from the URL and the history.
  const token = location.hash.slice(1);
  history.replaceState(history.state, '', location.pathname + location.search);
  const page = createRoot(element);
  const inContext = (content: React.ReactNode) => <StateContext value={state}>{content}</StateContext>;
  if (!(await isOnlyWindow())) return page.render(inContext(<OtherWindow />));
  const outside = new EventTarget();
  const wake = () => void outside.dispatchEvent(new Event('wake'));
  addEventListener('online', wake);
  addEventListener('offline', () => outside.dispatchEvent(new Event('offline')));
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake());
  const clock = createServerClock(state.nowMs, () => performance.now(), performance.now());
  const pos = createPos({
    ask,
    storage: localStorage,
    clock,
    newKey: () => crypto.randomUUID(),
    random: Math.random,
    outside,
    onPaid: paidSignal.play,
    firstMode: state.isSandbox ? 'test' : 'live',
    words: state.strings,
    currencies: state.currencies,
  });
  page.render(inContext(<App pos={pos} clock={clock} />));
  void pos.start(token);
  void keepForOffline().catch(() => undefined);
}

/**
 * Prepares the page to open offline after the first visit: the service worker stores the files that the page loaded before the worker
 * started.
 */
async function keepForOffline(): Promise<void> {
  await navigator.serviceWorker?.register('/pos/worker.js', { scope: '/pos' });
  const { active } = await navigator.serviceWorker.ready;
  await document.fonts.ready;
  active?.postMessage(performance.getEntriesByType('resource').map(({ name }) => name));
}

/**
 * True in the first window of this device, which holds the lock until it is closed. A second window would continue the stored order,
 * too.
 */
function isOnlyWindow(): Promise<boolean> {
  if (navigator.locks === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    void navigator.locks.request('till.pos', { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => {});
    });
  });
}
