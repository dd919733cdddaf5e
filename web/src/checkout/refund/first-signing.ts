import type { RefundPage } from '../page-state.ts';
import type { RefundProps } from './refund-app.tsx';

const nothing = () => {};

/** The first props of the page, the same on the server and in the browser. Before the script runs, no action is possible. */
export function firstSigning(page: RefundPage): RefundProps {
  const state = { refund: page.refund, step: { at: 'ready' }, notice: null, wallets: null, isAway: false } as const;
  return { page, state, actions: { sign: nothing, back: nothing } };
}
