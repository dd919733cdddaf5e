import type { RefundPage } from '../page-state.ts';
import type { RefundProps } from './refund-app.tsx';

const nothing = () => {};

/**
 * The first props of the page for signing a refund, equal on the server and in the browser, as hydration requires. Before the script
 * runs, the buttons do nothing.
 */
export function firstSigning(page: RefundPage): RefundProps {
  const state = { refund: page.refund, step: { at: 'ready' }, notice: null, wallets: null, isAway: false } as const;
  return { page, state, actions: { sign: nothing, back: nothing } };
}
