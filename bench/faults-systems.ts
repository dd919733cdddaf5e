import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, keccak256, parseAbi, stringToBytes } from 'viem';
import { SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { type RpcProxy, startRpcProxy } from '../test/rpc-proxy.ts';
import { ASSET, CHAIN_ID, NETWORK, type PayingChain, PRICE_UNITS, USDC } from './paying-chain.ts';
import { startPayingGateway } from './paying-gateway.ts';
import { createPayers, type Payer } from './paying-payers.ts';
import { type SignedPayment, signPayment } from './paying-wallet.ts';
import { startFacilitator } from './peer/facilitator.ts';
import { type PeerPayment, signPeerPayment } from './peer/payload.ts';

/** The status that a system reports for a payment, as the merchant needs it. */
export interface Word {
  readonly claim: 'paid' | 'not paid' | 'not known';
  /** The original text. */
  readonly text: string;
}

/** A signed payment that is not submitted yet. */
export interface Prepared {
  readonly payer: Payer;
  /** Submits it, first or again, and returns the answer. */
  submit(): Promise<Word>;
  /** The status that the system reports on another request. Waits for a final one as long as it can be expected. */
  ask(): Promise<Word>;
}

/** Either system, as seen by its callers, behind a scriptable endpoint. */
export interface System {
  readonly name: 'gateway' | 'facilitator';
  readonly proxy: RpcProxy;
  /** With a short lifetime, an unpaid payment expires soon. */
  prepare(life?: 'short'): Promise<Prepared>;
  /** Begins a row with a healthy system. */
  refresh(): Promise<void>;
  /** A power cut. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const FUNDS_UNITS = 5n * PRICE_UNITS;
export const TOKEN_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function blacklist(address account)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);
/** The facilitator waits three minutes by default. Our gateway answers at once and continues in the background. */
const PEER_RECEIPT_MS = 4_000;
const ANSWER_WITHIN_MS = 15_000;
const END_WITHIN_MS = 40_000;
const SHORT_LIFE_S = 5;
const ASK_EVERY_MS = 200;

let payers = 0;
/** A new payer with a balance. */
export async function newPayer(chain: PayingChain): Promise<Payer> {
  payers += 1;
  const [payer] = await createPayers(`fault ${payers}`, 1);
  if (payer === undefined) throw new Error('There is no payer.');
  await chain.fund(USDC, [payer.address], FUNDS_UNITS);
  return payer;
}

export async function startOurs(chain: PayingChain): Promise<System> {
  const proxy = await startRpcProxy({ targetUrl: chain.rpcUrl });
  const [shop] = await createPayers('fault shop', 1);
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: [proxy.url] },
    destinations: [{ asset: ASSET, destination: `${NETWORK}:${shop?.address}` }],
  });

  async function submit({ id, confirmation }: SignedPayment): Promise<Word & { isFinal: boolean }> {
    try {
      const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/gateway/payment/${id}/confirm`, {
        method: 'POST',
        headers: { 'api-key': gateway.apiKey, 'content-type': 'application/json' },
        body: confirmation,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await answer.text();
      if (answer.status >= 500) return { claim: 'not known', text: `${answer.status} ${text}`, isFinal: false };
      if (!answer.ok) return { claim: 'not paid', text: `${answer.status} ${text}`, isFinal: true };
      const { status, isFinal } = JSON.parse(text) as { status: string; isFinal: boolean };
      return { claim: status === 'succeeded' ? 'paid' : isFinal ? 'not paid' : 'not known', text: status, isFinal };
    } catch (error) {
      return { claim: 'not known', text: String(error), isFinal: false };
    }
  }

  function prepared(payer: Payer, payment: SignedPayment): Prepared {
    return {
      payer,
      submit: () => submit(payment),
      async ask() {
        const endMs = Date.now() + END_WITHIN_MS;
        for (;;) {
          // A repeated request is answered with the current status.
          const found = await submit(payment);
          if (found.isFinal || Date.now() > endMs) return found;
          await sleep(ASK_EVERY_MS);
        }
      },
    };
  }

  return {
    name: 'gateway',
    proxy,
    async prepare(life) {
      const payer = await newPayer(chain);
      const merchant = gateway.merchants[0] ?? '';
      const terms = { payer, merchant, asset: ASSET, price: '1000', ...(life && { lifetimeS: SHORT_LIFE_S }) };
      return prepared(payer, await signPayment(gateway, terms));
    },
    // It gets no help: it has to recover from each row by itself.
    refresh: async () => proxy.answerTruthfully(),
    kill: () => gateway.kill(),
    start: () => gateway.start(),
    async stop() {
      await gateway.stop();
      await proxy.close();
    },
  };
}

export async function startTheirs(chain: PayingChain, payTo: Hex): Promise<System> {
  const proxy = await startRpcProxy({ targetUrl: chain.rpcUrl });
  const settings = { rpcUrl: proxy.url, chainId: CHAIN_ID, relayerKey: SANDBOX_KEYS.secondRelayer };
  const launch = () => startFacilitator({ ...settings, confirmationTimeoutMs: PEER_RECEIPT_MS });
  let facilitator = await launch();

  async function submit(payment: PeerPayment, path: '/' | '/again'): Promise<Word> {
    try {
      const answer = await fetch(`http://127.0.0.1:${facilitator.port}${path}`, {
        method: 'POST',
        body: JSON.stringify(payment),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await answer.text();
      const { success, hasThrown, errorReason, invalidReason } = JSON.parse(text) as Record<string, unknown>;
      if (success === true) return { claim: 'paid', text };
      const isOpen = hasThrown === true || errorReason === 'settlement_pending';
      return { claim: isOpen ? 'not known' : 'not paid', text: `${errorReason ?? invalidReason ?? ''} ${text}` };
    } catch (error) {
      return { claim: 'not known', text: String(error) };
    }
  }

  return {
    name: 'facilitator',
    proxy,
    async prepare() {
      const payer = await newPayer(chain);
      const nonce = keccak256(stringToBytes(payer.address));
      const domain = { name: 'USD Coin', version: '2' };
      const terms = { payer, token: USDC, domain, chainId: CHAIN_ID, payTo, value: PRICE_UNITS, nonce };
      const payment = signPeerPayment(terms);
      let last: Word | undefined;
      return {
        payer,
        submit: async () => (last = await submit(payment, '/')),
        // Its only way to report a status is to submit the payment once more. After "paid" nobody asks again.
        ask: async () => (last?.claim === 'paid' ? last : submit(payment, '/again')),
      };
    },
    /** A new process loses all state in memory, so the next row starts clean. */
    async refresh() {
      proxy.answerTruthfully();
      await facilitator.stop();
      facilitator = await launch();
    },
    kill: async () => facilitator.kill(),
    async start() {
      facilitator = await launch();
    },
    async stop() {
      await facilitator.stop();
      await proxy.close();
    },
  };
}
