import type { PayableCurrency } from '../../../src/domain/currency.ts';
import { currenciesOf } from '../shared/currencies.ts';
import type { ServerClock } from '../shared/server-clock.ts';
import type { Ask, Mode } from './gateway.ts';
import { type Kept, type Order, type PaymentStatus, readKept, type Storage, writeKept } from './kept.ts';

export interface PosDeps {
  readonly ask: Ask;
  readonly storage: Storage;
  readonly clock: ServerClock;
  readonly newKey: () => string;
  readonly random: () => number;
  /** Fires `offline` when the browser loses its connection, and `wake` when it is online again or the page becomes visible again. */
  readonly outside: EventTarget;
  /** Called once when a payment has succeeded. */
  readonly onPaid: () => void;
  readonly firstMode: Mode;
  /** The currencies to choose from, of all modes. */
  readonly currencies: readonly PayableCurrency[];
  readonly words: { readonly sale: string; readonly tip: string };
}

export interface PosView {
  readonly kept: Kept;
  /** The state of the sign-in. `unknown` until the gateway has answered. */
  readonly session: 'unknown' | 'in' | 'out' | 'no_merchant';
  readonly person: Person | null;
  /** The last status of the open payment that the gateway reported. Null if there is none yet. */
  readonly status: PaymentStatus | null;
  readonly isOffline: boolean;
  readonly isCancelling: boolean;
  /** The problem to show. `refused` with an order: no payment was created for the order, and the cashier can charge it again. */
  readonly problem:
    | { readonly kind: 'refused'; readonly message: string; readonly order?: Pick<Order, 'amount' | 'tip'> }
    | { readonly kind: 'storage' | 'link' }
    | null;
}

export interface Person {
  readonly name: string;
  readonly rights: readonly string[];
  readonly partnerWide: boolean;
  readonly modes: readonly Mode[];
}

/** The state of the point of sale, which the page shows. A part of it is kept in the browser. */
export interface PosState {
  view(): PosView;
  set(change: Partial<PosView>): void;
  /** Stores a change of the kept state, then shows it. Returns false if the browser cannot store it. */
  keep(change: Partial<Kept>): boolean;
  /** True while the order is the open one. */
  isOpen(order: Order): boolean;
  subscribe(listener: () => void): () => void;
}

/** The device: its surroundings and its state. */
export type Device = PosDeps & PosState;

export function createState({ storage, currencies }: Pick<PosDeps, 'storage' | 'currencies'>): PosState {
  let view: PosView = {
    kept: withCurrency(readKept(storage), currencies),
    session: 'unknown',
    person: null,
    status: null,
    isOffline: false,
    isCancelling: false,
    problem: null,
  };
  const listeners = new Set<() => void>();

  function set(change: Partial<PosView>): void {
    view = { ...view, ...change };
    for (const listener of listeners) listener();
  }

  return {
    view: () => view,
    set,
    keep(change) {
      const kept = withCurrency({ ...view.kept, ...change }, currencies);
      const isKept = writeKept(storage, kept);
      set({ kept, ...(!isKept && { problem: { kind: 'storage' } }) });
      return isKept;
    },
    isOpen: (order) => view.kept.open?.order.key === order.key,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The stored currency, if payments of the merchant take it, else the first such currency. An open order keeps its own. */
function withCurrency(kept: Kept, currencies: readonly PayableCurrency[]): Kept {
  const payable = currenciesOf(currencies, kept.place?.mode, kept.place?.currencies);
  if (payable.some(({ code }) => code === kept.currency)) return kept;
  return { ...kept, currency: payable[0]?.code ?? kept.currency };
}
