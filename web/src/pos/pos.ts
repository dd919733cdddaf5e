import type { PayableCurrency } from '../../../src/domain/currency.ts';
import { backoffMs, pause } from '../shared/backoff.ts';
import { currenciesOf } from '../shared/currencies.ts';
import type { LateMoney } from '../shared/late-money.ts';
import type { ServerClock } from '../shared/server-clock.ts';
import { untilOffline } from '../shared/until-offline.ts';
import { isFinal } from './ending.ts';
import type { Answer, Ask, Mode } from './gateway.ts';
import {
  type Brand,
  type Kept,
  type OpenOrder,
  type Order,
  type PaymentStatus,
  type Place,
  readKept,
  type Storage,
  totalOf,
  withRecent,
  writeKept,
} from './kept.ts';

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

export type Pos = ReturnType<typeof createPos>;

const HOLD_MS = 20_000;
/** The least time between two requests while the status does not change, even if the gateway does not hold them. */
const MIN_INTERVAL_MS = 1_000;
/**
 * The intervals of the requests for late money, which grow. The requests go on for about an hour, while the ended payment is on the
 * screen.
 */
const FIRST_LATE_MS = 3_000;
const LONGEST_LATE_MS = 60_000;
const MAX_LATE_CHECKS = 64;
const MODES: readonly Mode[] = ['test', 'live'];

/**
 * The point of sale. An order is stored before it is sent, and is sent again with the same Idempotency-Key until the gateway answers.
 * A payment counts as paid only if the gateway reports `succeeded`, and never by the device's clock or a lost connection.
 */
export function createPos(deps: PosDeps) {
  const { storage, random, outside } = deps;
  let view: PosView = {
    kept: withCurrency(readKept(storage), deps.currencies),
    session: 'unknown',
    person: null,
    status: null,
    isOffline: false,
    isCancelling: false,
    problem: null,
  };
  const listeners = new Set<() => void>();
  const life = new AbortController();
  let running = new AbortController();
  let isDriving = false;

  function set(change: Partial<PosView>): void {
    view = { ...view, ...change };
    for (const listener of listeners) listener();
  }

  /** Stores a change of the kept state, then shows it. Returns false if the browser cannot store it. */
  function keep(change: Partial<Kept>): boolean {
    const kept = withCurrency({ ...view.kept, ...change }, deps.currencies);
    const isKept = writeKept(storage, kept);
    set({ kept, ...(!isKept && { problem: { kind: 'storage' } }) });
    return isKept;
  }

  function isOf(order: Order): boolean {
    return view.kept.open?.order.key === order.key;
  }

  async function signIn(token: string): Promise<void> {
    const request = { method: 'POST', path: '/v1/sessions', mode: deps.firstMode, body: { link: token } } as const;
    for (let failures = 0; !life.signal.aborted; failures += 1) {
      const answer = await deps.ask(request, life.signal);
      set({ isOffline: answer.is === 'unknown', ...(answer.is === 'refused' && { problem: { kind: 'link' } }) });
      if (answer.is !== 'unknown') return;
      await pause(backoffMs(failures, random), life.signal, outside);
    }
  }

  /** Reads the person and the merchant. A person of one merchant has one mode, and is refused in the other, so both modes are tried. */
  async function readSession(): Promise<void> {
    for (let failures = 0; !life.signal.aborted; failures += 1) {
      const known = view.kept.place?.mode ?? deps.firstMode;
      for (const mode of [known, ...MODES.filter((each) => each !== known)]) {
        const answer = await deps.ask({ method: 'GET', path: '/v1/sessions/current', mode }, life.signal);
        if (answer.is === 'unknown') break;
        if (answer.is === 'refused' && answer.status === 401) return set({ session: 'out', person: null });
        if (answer.is === 'ok') return takeSession(answer.body as CurrentSession, mode);
      }
      set({ isOffline: true });
      await pause(backoffMs(failures, random), life.signal, outside);
    }
  }

  function takeSession(current: CurrentSession, mode: Mode): void {
    const { person, merchant, rights, modes } = current;
    const shown = { name: person.name, rights, partnerWide: merchant === null, modes };
    const { place } = view.kept;
    if (merchant !== null) {
      const { brand, currencies } = place?.merchantId === merchant.id ? place : {};
      const own = { merchantId: merchant.id, merchantName: merchant.name, mode: modes[0] ?? mode };
      keep({ place: { ...own, brand, currencies } });
    }
    const isPlaced = merchant !== null || place !== null;
    set({ session: isPlaced ? 'in' : 'no_merchant', person: shown, isOffline: false });
  }

  /** Without an answer, the page keeps the merchant's last known branding and currencies. */
  function readMerchant(): void {
    void readPart('branding', (body) => {
      const { logoUrl, accentColor } = (body as { branding: Brand }).branding;
      return { brand: { logoUrl, accentColor } };
    });
    void readPart('currencies', (body) => {
      const { currencies } = body as { currencies: readonly { readonly code: string }[] };
      return { currencies: currencies.map(({ code }) => code) };
    });
  }

  async function readPart(name: string, read: (body: unknown) => Partial<Place>): Promise<void> {
    const { place } = view.kept;
    if (place === null || view.session !== 'in') return;
    const { merchantId, mode } = place;
    const path = `/v1/merchants/${merchantId}/${name}`;
    const answer = await deps.ask({ method: 'GET', path, mode }, life.signal);
    if (answer.is !== 'ok' || view.kept.place?.merchantId !== merchantId) return;
    keep({ place: { ...view.kept.place, ...read(answer.body) } });
  }

  /** Continues the open order until it has ended, whatever happens in between. */
  async function drive(open: OpenOrder, signal: AbortSignal): Promise<void> {
    const { order } = open;
    const payment = open.payment ?? (await create(order, signal));
    if (payment === undefined) return;
    await follow({ order, payment }, signal);
  }

  async function create(order: Order, signal: AbortSignal): Promise<OpenOrder['payment'] | undefined> {
    const unit = `iso4217/${order.currency}`;
    const { sale, tip } = deps.words;
    const line = (name: string, value: string) => ({ name, amount: { unit, value } });
    const body = {
      amount: { unit, value: totalOf(order) },
      referenceId: `POS-${order.key.slice(0, 8).toUpperCase()}`,
      ...(order.tip !== '0' && { lineItems: [line(sale, order.amount), line(tip, order.tip)] }),
    };
    const { merchantId, mode } = order.place;
    for (let failures = 0; !signal.aborted && isOf(order); failures += 1) {
      const answer = await deps.ask(
        { method: 'POST', path: '/v1/payments', mode, merchantId, body, idempotencyKey: order.key },
        signal,
      );
      if (signal.aborted || !isOf(order)) return undefined;
      if (answer.is === 'ok') {
        observe(answer);
        const { paymentId, gatewayUrl, expiresAt } = answer.body as CreatedPayment;
        const payment = { id: paymentId, gatewayUrl, expiresAtS: expiresAt };
        keep({ open: { order, payment } });
        set({ isOffline: false });
        return payment;
      }
      if (answer.is === 'refused') return refuse(answer, order);
      set({ isOffline: true });
      await pause(backoffMs(failures, random), signal, outside);
    }
    return undefined;
  }

  /**
   * Handles the refusal of an order: no payment was created. Only a 401 says nothing about the order, so the order is sent again
   * after the next sign-in.
   */
  function refuse({ status, message }: Extract<Answer, { is: 'refused' }>, { amount, tip }: Order): undefined {
    if (status === 401) set({ session: 'out', person: null });
    else {
      keep({ open: null });
      set({ problem: { kind: 'refused', message, order: { amount, tip } }, status: null });
    }
  }

  async function follow({ order, payment }: Required<OpenOrder>, signal: AbortSignal): Promise<void> {
    if (payment === null) return;
    const { merchantId, mode } = order.place;
    let etag: string | undefined;
    for (let failures = 0; !signal.aborted && isOf(order); ) {
      // After a failure the gateway must answer at once, because the status may have changed.
      const hold = failures === 0 && etag !== undefined ? `?maxPollMs=${HOLD_MS}` : '';
      const path = `/v1/payments/${payment.id}/status${hold}`;
      const answer = await untilOffline(outside, signal, (lost) =>
        deps.ask({ method: 'GET', path, mode, merchantId, etag }, lost),
      );
      if (signal.aborted || !isOf(order)) return;
      if (answer.is === 'refused' && answer.status === 401) return set({ session: 'out', person: null });
      if (answer.is === 'ok' || answer.is === 'unchanged') {
        failures = 0;
        set({ isOffline: false });
        if (answer.is === 'unchanged') {
          await pause(MIN_INTERVAL_MS, signal, outside);
          continue;
        }
        observe(answer);
        etag = answer.etag;
        const { status } = answer.body as { status: PaymentStatus };
        const isNews = status !== view.status;
        note(order, payment.id, status);
        if (isFinal(status)) return followLateMoney({ order, payment }, status, signal);
        // A gateway without a free slot for long polls answers at once, without a change.
        if (!isNews) await pause(MIN_INTERVAL_MS, signal, outside);
        continue;
      }
      if (answer.is === 'refused') return set({ problem: { kind: 'refused', message: answer.message } });
      failures += 1;
      set({ isOffline: true });
      await pause(backoffMs(failures - 1, random), signal, outside);
    }
  }

  /**
   * Asks for the late money of an ended payment at growing intervals. The gateway reports money at a deposit address only once it is
   * deep enough in the chain, so one answer is not enough.
   */
  async function followLateMoney(
    { order, payment }: Required<OpenOrder>,
    status: PaymentStatus,
    signal: AbortSignal,
  ): Promise<void> {
    if (payment === null) return;
    const { merchantId, mode } = order.place;
    const path = `/v1/payments/${payment.id}`;
    for (let check = 0; check < MAX_LATE_CHECKS && !signal.aborted && isOf(order); check += 1) {
      const answer = await deps.ask({ method: 'GET', path, mode, merchantId }, signal);
      if (signal.aborted || !isOf(order)) return;
      if (answer.is === 'refused') {
        if (answer.status === 401) set({ session: 'out', person: null });
        return;
      }
      if (answer.is === 'ok') note(order, payment.id, status, lateMoneyIn(answer.body));
      const base = Math.min(LONGEST_LATE_MS, FIRST_LATE_MS * 1.5 ** check);
      await pause(base * (0.75 + random() / 2), signal, outside);
    }
  }

  function note(order: Order, id: string, status: PaymentStatus, lateMoney?: readonly LateMoney[]): void {
    const isNewlyPaid = status === 'succeeded' && view.status !== 'succeeded';
    const { currency, decimals } = order;
    const payment = { id, currency, decimals, total: totalOf(order), status, lateMoney, atMs: deps.clock.nowMs() };
    set({ status, isCancelling: false });
    keep({ recent: withRecent(view.kept.recent, payment) });
    if (isNewlyPaid) deps.onPaid();
  }

  function observe({ serverMs }: Extract<Answer, { is: 'ok' }>): void {
    if (serverMs !== undefined) deps.clock.observe(serverMs);
  }

  function resume(): void {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const { open } = view.kept;
    isDriving = open !== null;
    if (open === null) return;
    void drive(open, signal).then(() => {
      if (!signal.aborted) isDriving = false;
    });
  }

  return {
    view: () => view,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Starts the point of sale, or continues after a reload or a loss of power. */
    async start(token: string): Promise<void> {
      resume();
      if (token !== '') await signIn(token);
      await readSession();
      // The open payment is not followed any more if the session had ended before this sign-in.
      if (view.session === 'in' && !isDriving) resume();
      readMerchant();
    },
    stop(): void {
      life.abort();
      running.abort();
    },
    /** Charges an amount and a tip. The order is stored before it is sent; if it cannot be stored, it is not sent. */
    charge(amount: string, tip: string): void {
      const { place, currency, open } = view.kept;
      if (place === null || open !== null) return;
      const payable = currenciesOf(deps.currencies, place.mode, place.currencies);
      const decimals = payable.find(({ code }) => code === currency)?.decimals;
      if (decimals === undefined) return;
      const order = { key: deps.newKey(), place, currency, decimals, amount, tip };
      set({ status: null, problem: null, isOffline: false });
      if (keep({ open: { order, payment: null } })) resume();
      else set({ kept: { ...view.kept, open: null } });
    },
    /**
     * Cancels the open payment. The gateway decides: a payment that is already being paid continues. An order without an answer from
     * the gateway is dropped: nobody has seen its QR code, so nobody can pay it.
     */
    async cancel(): Promise<void> {
      const { open } = view.kept;
      if (open === null) return;
      if (open.payment === null) return clear();
      set({ isCancelling: true });
      const { merchantId, mode } = open.order.place;
      const path = `/v1/payments/${open.payment.id}/cancel`;
      const answer = await deps.ask({ method: 'POST', path, mode, merchantId }, new AbortController().signal);
      // The status request that the gateway holds will report the outcome. If the connection was lost, the cashier can press the
      // button again.
      if (answer.is !== 'ok' && isOf(open.order)) set({ isCancelling: false });
    },
    /** Returns to the keypad. The ended payment stays in the list. */
    done: clear,
    choose(change: { readonly currency?: string; readonly place?: Place }): void {
      keep(change);
      if (change.place === undefined) return;
      set({ session: 'in' });
      readMerchant();
    },
    async signOut(): Promise<void> {
      const mode = view.kept.place?.mode ?? deps.firstMode;
      await deps.ask({ method: 'DELETE', path: '/v1/sessions/current', mode }, new AbortController().signal);
      keep({ place: null, recent: [] });
      set({ session: 'out', person: null });
    },
  };

  function clear(): void {
    keep({ open: null });
    set({ status: null, isCancelling: false, isOffline: false, problem: null });
    resume();
  }
}

/** The stored currency, if payments of the merchant take it, else the first such currency. An open order keeps its own. */
function withCurrency(kept: Kept, currencies: readonly PayableCurrency[]): Kept {
  const payable = currenciesOf(currencies, kept.place?.mode, kept.place?.currencies);
  if (payable.some(({ code }) => code === kept.currency)) return kept;
  return { ...kept, currency: payable[0]?.code ?? kept.currency };
}

/** The late money in an answer, without the fields that the device does not show. */
function lateMoneyIn(body: unknown): readonly LateMoney[] {
  const { lateMoney = [] } = body as { lateMoney?: readonly LateMoney[] };
  return lateMoney.map(({ reason, status, amount }) => ({ reason, status, amount }));
}

interface CurrentSession {
  readonly person: { readonly name: string };
  readonly merchant: { readonly id: string; readonly name: string } | null;
  readonly rights: readonly string[];
  readonly modes: readonly Mode[];
}

interface CreatedPayment {
  readonly paymentId: string;
  readonly gatewayUrl: string;
  readonly expiresAt: number;
}
