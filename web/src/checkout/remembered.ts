/** The state stored in the browser. Storage may be full, forbidden or contain foreign data, so the page also works without it. */
export interface Memory {
  readonly lastUnit: string | null;
  readonly lastWallet: string | null;
  rememberChoice(choice: { readonly unit: string; readonly wallet: string }): void;
  /** The wallet's answers for a payment, or a note that a transaction was requested. Kept at most until the payment has ended. */
  pending(paymentId: string): Pending | null;
  rememberPending(paymentId: string, pending: Pending): void;
  forgetPending(paymentId: string): void;
  /** The token (CAIP-19) that the payer last chose to send for this payment. */
  transfer(paymentId: string): string | null;
  rememberTransfer(paymentId: string, asset: string | null): void;
  /** True if this tab has already been redirected to the shop. Redirecting again would trap the back button. */
  hasLeft(paymentId: string): boolean;
  rememberLeft(paymentId: string): void;
}

export interface Pending {
  readonly optionId: string;
  /** The wallet's answers. Null while a transaction is requested and may or may not have been sent. */
  readonly results: readonly string[] | null;
  readonly txId: string | null;
}

interface Stores {
  /** Functions, because even reading `window.localStorage` throws if storage is forbidden. */
  readonly local: () => Storage;
  readonly session: () => Storage;
}

const CHOICE = 'till.choice';
const PENDING = 'till.pending';
const TRANSFER = 'till.transfer';
const LEFT = 'till.left';
const MAX_PENDING = 8;

export function createMemory({ local, session }: Stores): Memory {
  const choice = read(local, CHOICE) as { unit?: unknown; wallet?: unknown } | null;
  const allPending = () => entriesOf(read(local, PENDING));
  return {
    lastUnit: textOr(choice?.unit),
    lastWallet: textOr(choice?.wallet),
    rememberChoice: (value) => write(local, CHOICE, value),
    pending: (paymentId) => pendingOf(allPending().find(([id]) => id === paymentId)?.[1]),
    rememberPending: (paymentId, pending) => {
      const others = allPending().filter(([id]) => id !== paymentId);
      write(local, PENDING, [[paymentId, pending], ...others].slice(0, MAX_PENDING));
    },
    forgetPending: (paymentId) => {
      const all = allPending();
      const others = all.filter(([id]) => id !== paymentId);
      if (others.length < all.length) write(local, PENDING, others);
    },
    transfer: (paymentId) => {
      const { id, asset } = Object(read(local, TRANSFER)) as Record<string, unknown>;
      return id === paymentId ? textOr(asset) : null;
    },
    rememberTransfer: (id, asset) => write(local, TRANSFER, { id, asset }),
    hasLeft: (paymentId) => read(session, LEFT) === paymentId,
    rememberLeft: (paymentId) => write(session, LEFT, paymentId),
  };
}

function read(store: () => Storage, key: string): unknown {
  try {
    return JSON.parse(store().getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

function write(store: () => Storage, key: string, value: unknown): void {
  try {
    store().setItem(key, JSON.stringify(value));
  } catch {
    // Storage is optional.
  }
}

function textOr(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (!Array.isArray(value)) return [];
  return value.filter((entry) => Array.isArray(entry) && typeof entry[0] === 'string');
}

function pendingOf(value: unknown): Pending | null {
  const { optionId, results, txId } = Object(value) as Record<string, unknown>;
  if (typeof optionId !== 'string') return null;
  const isList = Array.isArray(results) && results.every((result) => typeof result === 'string');
  return { optionId, results: isList ? results : null, txId: textOr(txId) };
}
