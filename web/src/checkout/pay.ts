import type { Notice } from './flow-state.ts';
import { WalletError } from './wallet-request.ts';

/** The reason why the payer could not pay, as a notice for the page. */
export class PayError extends Error {
  readonly notice: Notice;
  constructor(notice: Notice) {
    super(notice);
    this.name = 'PayError';
    this.notice = notice;
  }
}

export function noticeOf(error: unknown): Notice {
  const why = error instanceof WalletError ? error.why : 'error';
  switch (why) {
    case 'pending':
      return 'pendingRequest';
    case 'silent':
      return 'walletLocked';
    case 'error':
    case 'unknown_chain':
      return 'walletError';
    default:
      return why;
  }
}
