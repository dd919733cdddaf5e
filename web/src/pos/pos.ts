import { currenciesOf } from '../shared/currencies.ts';
import type { Place } from './kept.ts';
import { createState, type Device, type PosDeps } from './pos-state.ts';
import { readMerchant, readSession, signIn } from './sign-in.ts';
import { takePayment } from './take-payment.ts';

export type Pos = ReturnType<typeof createPos>;

/**
 * The point of sale. An order is stored before it is sent, and is sent again with the same Idempotency-Key until the gateway answers.
 * A payment counts as paid only if the gateway reports `succeeded`, and never by the device's clock or a lost connection.
 */
export function createPos(deps: PosDeps) {
  const device: Device = { ...deps, ...createState(deps) };
  const { view, set, keep, isOpen } = device;
  const life = new AbortController();
  let running = new AbortController();
  let isDriving = false;

  function resume(): void {
    running.abort();
    running = new AbortController();
    const { signal } = running;
    const { open } = view().kept;
    isDriving = open !== null;
    if (open === null) return;
    void takePayment(device, open, signal).then(() => {
      if (!signal.aborted) isDriving = false;
    });
  }

  return {
    view,
    subscribe: device.subscribe,
    /** Starts the point of sale, or continues after a reload or a loss of power. */
    async start(token: string): Promise<void> {
      resume();
      if (token !== '') await signIn(device, token, life.signal);
      await readSession(device, life.signal);
      // The open payment is not followed any more if the session had ended before this sign-in.
      if (view().session === 'in' && !isDriving) resume();
      readMerchant(device, life.signal);
    },
    stop(): void {
      life.abort();
      running.abort();
    },
    /** Charges an amount and a tip. The order is stored before it is sent; if it cannot be stored, it is not sent. */
    charge(amount: string, tip: string): void {
      const { place, currency, open } = view().kept;
      if (place === null || open !== null) return;
      const payable = currenciesOf(deps.currencies, place.mode, place.currencies);
      const decimals = payable.find(({ code }) => code === currency)?.decimals;
      if (decimals === undefined) return;
      const order = { key: deps.newKey(), place, currency, decimals, amount, tip };
      set({ status: null, problem: null, isOffline: false });
      if (keep({ open: { order, payment: null } })) resume();
      else set({ kept: { ...view().kept, open: null } });
    },
    /**
     * Cancels the open payment. The gateway decides: a payment that is already being paid continues. An order without an answer from
     * the gateway is dropped: nobody has seen its QR code, so nobody can pay it.
     */
    async cancel(): Promise<void> {
      const { open } = view().kept;
      if (open === null) return;
      if (open.payment === null) return clear();
      set({ isCancelling: true });
      const { merchantId, mode } = open.order.place;
      const path = `/v1/payments/${open.payment.id}/cancel`;
      const answer = await deps.ask({ method: 'POST', path, mode, merchantId }, new AbortController().signal);
      // The status request that the gateway holds will report the outcome. If the connection was lost, the cashier can press the
      // button again.
      if (answer.is !== 'ok' && isOpen(open.order)) set({ isCancelling: false });
    },
    /** Returns to the keypad. The ended payment stays in the list. */
    done: clear,
    choose(change: { readonly currency?: string; readonly place?: Place }): void {
      keep(change);
      if (change.place === undefined) return;
      set({ session: 'in' });
      readMerchant(device, life.signal);
    },
    async signOut(): Promise<void> {
      const mode = view().kept.place?.mode ?? deps.firstMode;
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
