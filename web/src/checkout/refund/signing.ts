import { backoffMs, pause } from '../../shared/backoff.ts';
import { eitherSignal } from '../../shared/either-signal.ts';
import type { Sandbox } from '../../shared/networks.ts';
import { addressOf } from '../../shared/text.ts';
import type { Answer } from '../api.ts';
import type { Ask, Notice } from '../flow-state.ts';
import type { RefundView } from '../page-state.ts';
import { noticeOf, PayError } from '../pay.ts';
import { performActions } from '../perform-actions.ts';
import type { Memory } from '../remembered.ts';
import { untilMined } from '../setup.ts';
import { accountsIn, askWallet } from '../wallet-request.ts';
import type { Wallet, WalletCard } from '../wallets.ts';
import type { RefundStrings } from './refund-strings.ts';
import type { SigningGateway } from './signing-api.ts';

export interface Signing {
  readonly refund: RefundView;
  readonly step: SigningStep;
  readonly notice: SigningNotice | null;
  /** The wallets that were found. Null until the search for wallets has ended. */
  readonly wallets: readonly WalletCard[] | null;
  readonly isAway: boolean;
}

export type SigningStep =
  | { readonly at: 'ready' }
  | { readonly at: 'connecting' | 'preparing'; readonly wallet: WalletCard; readonly isSlow: boolean }
  | { readonly at: 'asking'; readonly ask: Ask; readonly wallet: WalletCard; readonly isSlow: boolean }
  | { readonly at: 'mining'; readonly wallet: WalletCard; readonly txId: string }
  /** The wallet has answered. The page must stay open until the answer is delivered. */
  | { readonly at: 'delivering'; readonly txId: string | null };

/** The key of a notice's text, among the texts of the checkout or of the page for signing a refund. */
export type SigningNotice =
  | { readonly is: Notice }
  | { readonly is: keyof Pick<RefundStrings, 'notNow' | 'ranOut'> }
  | { readonly is: 'otherAccount'; readonly account: string };

export interface SigningDeps {
  readonly refund: RefundView;
  readonly sandbox: Sandbox | null;
  readonly gateway: SigningGateway;
  readonly memory: Memory;
  readonly outside: EventTarget;
  readonly random: () => number;
}

export interface SigningPage {
  getState(): Signing;
  subscribe(listener: () => void): () => void;
  start(): void;
  stop(): void;
  foundWallets(wallets: readonly Wallet[]): void;
  sign(walletId: string): void;
  back(): void;
}

const SLOW_MS = 15_000;
const POLL_MS = 2_000;
/** The maximum number of attempts to deliver the wallet's answer. They take about ten minutes; by then the request to sign has expired. */
const MAX_DELIVERIES = 60;

export function createSigning(deps: SigningDeps): SigningPage {
  const listeners = new Set<() => void>();
  const wallets = new Map<string, Wallet>();
  const life = new AbortController();
  let run = new AbortController();
  let slowTimer: ReturnType<typeof setTimeout> | undefined;
  let state: Signing = { refund: deps.refund, step: { at: 'ready' }, notice: null, wallets: null, isAway: false };
  const { refundId } = deps.refund;

  const change = (next: Partial<Signing>) => {
    state = { ...state, ...next };
    for (const listener of listeners) listener();
  };
  const begin = () => {
    run.abort();
    run = new AbortController();
    clearTimeout(slowTimer);
    return eitherSignal(run.signal, life.signal);
  };
  const stumble = (notice: SigningNotice) => {
    clearTimeout(slowTimer);
    deps.memory.forgetPending(refundId);
    change({ step: { at: 'ready' }, notice });
  };
  /** Enters a step in which the wallet should answer, and shows a hint if the wallet is slow. */
  const ask = (step: Extract<SigningStep, { readonly isSlow: boolean }>) => {
    change({ step, notice: null });
    clearTimeout(slowTimer);
    slowTimer = setTimeout(() => state.step === step && change({ step: { ...step, isSlow: true } }), SLOW_MS);
  };
  const learn = (refund: RefundView) => {
    const hasLapsed = state.refund.status === 'sending' && refund.status === 'awaiting_funds';
    if (refund.status !== 'awaiting_funds') deps.memory.forgetPending(refundId);
    const isOver = state.step.at === 'delivering' && refund.status !== 'awaiting_funds';
    change({
      refund,
      isAway: false,
      ...((isOver || hasLapsed) && { step: { at: 'ready' } as const }),
      ...(hasLapsed && { notice: { is: 'ranOut' } as const }),
    });
  };

  async function sign({ provider, ...wallet }: Wallet): Promise<void> {
    const signal = begin();
    const wanted = addressOf(state.refund.account ?? '').toLowerCase();
    ask({ at: 'connecting', wallet, isSlow: false });
    try {
      const accounts = accountsIn(await askWallet(provider, 'eth_requestAccounts'));
      if (signal.aborted) return;
      if (!accounts.includes(wanted)) return stumble({ is: 'otherAccount', account: accounts[0] ?? '' });
      ask({ at: 'preparing', wallet, isSlow: false });
      const answer = await deps.gateway.actions(signal);
      if (signal.aborted) return;
      if (answer.is !== 'ok') return stumble(refusalOf(answer));
      const results = await performActions({
        provider,
        account: wanted,
        actions: answer.value,
        sandbox: deps.sandbox,
        onAsk: (request) => {
          if (!signal.aborted) ask({ at: 'asking', ask: request, wallet, isSlow: false });
        },
        onSetupSent: (txId) => {
          if (!signal.aborted) change({ step: { at: 'mining', wallet, txId } });
        },
        untilMined: (action, txId) => untilMined({ provider, action, txId, signal }),
        signal,
      });
      const isSent = answer.value.at(-1)?.method === 'eth_sendTransaction';
      const result = results.at(-1) ?? '';
      // If the merchant has gone back meanwhile, a signature is dropped, but a sent transaction still counts.
      if (signal.aborted && !isSent) return;
      const txId = isSent ? result : null;
      deps.memory.rememberPending(refundId, { optionId: refundId, results: [result], txId });
      await deliver(result, txId);
    } catch (error) {
      if (!signal.aborted) stumble({ is: error instanceof PayError ? error.notice : noticeOf(error) });
    }
  }

  /**
   * Repeats the delivery of the wallet's answer until the refund is being sent. If the merchant pays in coin, the gateway must first
   * see the transaction on the chain.
   */
  async function deliver(result: string, txId: string | null): Promise<void> {
    const signal = begin();
    change({ step: { at: 'delivering', txId }, notice: null });
    for (let attempt = 0; attempt < MAX_DELIVERIES && !signal.aborted; attempt += 1) {
      const answer = await deps.gateway.confirm(result, signal);
      if (signal.aborted) return;
      if (answer.is === 'refused') return stumble(refusalOf(answer));
      if (answer.is === 'ok') {
        learn(answer.value);
        if (answer.value.status !== 'awaiting_funds') return;
      }
      const waitMs = answer.is === 'ok' ? POLL_MS : (answer.retryAfterMs ?? backoffMs(attempt, deps.random));
      await pause(waitMs, signal, deps.outside);
    }
  }

  async function follow(): Promise<void> {
    for (let failures = 0; !life.signal.aborted && !isFinal(state.refund); ) {
      await pause(failures === 0 ? POLL_MS : backoffMs(failures, deps.random), life.signal, deps.outside);
      if (state.step.at === 'delivering') continue;
      const answer = await deps.gateway.refund(life.signal);
      if (life.signal.aborted) return;
      failures = answer.is === 'ok' ? 0 : failures + 1;
      if (answer.is === 'ok') learn(answer.value);
      else if (failures > 1) change({ isAway: true });
    }
  }

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start() {
      const pending = deps.memory.pending(refundId);
      const result = pending?.results?.[0];
      if (result !== undefined && state.refund.status === 'awaiting_funds') void deliver(result, pending?.txId ?? null);
      void follow();
    },
    stop() {
      life.abort();
      clearTimeout(slowTimer);
      listeners.clear();
    },
    foundWallets(found) {
      for (const wallet of found) wallets.set(wallet.id, wallet);
      change({ wallets: found.map(({ provider: _, ...card }) => card) });
    },
    sign(walletId) {
      const wallet = wallets.get(walletId);
      if (wallet !== undefined) void sign(wallet);
    },
    back() {
      begin();
      change({ step: { at: 'ready' }, notice: null });
    },
  };
}

function isFinal({ status, waitingFor }: RefundView): boolean {
  return status === 'refunded' || (status === 'failed' && waitingFor === null);
}

function refusalOf(answer: Exclude<Answer<unknown>, { is: 'ok' }>): SigningNotice {
  if (answer.is === 'unavailable') return { is: 'away' };
  return answer.status === 422 ? { is: 'wrongAccount' } : { is: 'notNow' };
}
