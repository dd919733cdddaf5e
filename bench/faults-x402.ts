import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, keccak256, stringToBytes } from 'viem';
import { startRpcProxy } from '../test/rpc-proxy.ts';
import { newPayer, type Prepared, type System, type Word } from './faults-systems.ts';
import { ASSET, CHAIN_ID, NETWORK, type PayingChain } from './paying-chain.ts';
import { startPayingGateway } from './paying-gateway.ts';
import { createPayers, type Payer } from './paying-payers.ts';
import { signPeerPayment } from './peer/payload.ts';

/** Longer than the gateway holds a request. */
const ANSWER_WITHIN_MS = 25_000;
const END_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 300;

/** The gateway as an agent sees it: a payment by x402, with the same payload that the facilitator gets. */
export async function startX402(chain: PayingChain): Promise<System> {
  const proxy = await startRpcProxy({ targetUrl: chain.rpcUrl });
  const [shop] = await createPayers('fault shop', 1);
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: [proxy.url] },
    destinations: [{ asset: ASSET, destination: `${NETWORK}:${shop?.address}` }],
    settings: { DEPOSIT_MINIMUM: `${NETWORK}=0` },
  });
  const origin = `http://127.0.0.1:${gateway.port}`;

  async function create(): Promise<string> {
    const answer = await fetch(`${origin}/v1/payments`, {
      method: 'POST',
      headers: {
        'api-key': gateway.apiKey,
        'merchant-id': gateway.merchants[0] ?? '',
        'idempotency-key': crypto.randomUUID(),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'x402' }),
    });
    return ((await answer.json()) as { paymentId: string }).paymentId;
  }

  /** 402 asks to pay, so it says that nothing was paid. Everything but an answer of 200 leaves it open. */
  async function submit(id: string, header: string | undefined): Promise<Word & { status: number }> {
    try {
      const answer = await fetch(`${origin}/x402/${id}`, {
        headers: header === undefined ? {} : { 'payment-signature': header },
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = `${answer.status} ${await answer.text()}`;
      const claim =
        answer.status === 200 ? 'paid' : answer.status < 500 && answer.status !== 429 ? 'not paid' : 'not known';
      return { claim, text, status: answer.status };
    } catch (error) {
      return { claim: 'not known', text: String(error), status: 0 };
    }
  }

  function prepared(payer: Payer, id: string, header: string): Prepared {
    return {
      payer,
      submit: () => submit(id, header),
      async ask() {
        for (const endMs = Date.now() + END_WITHIN_MS; ; await sleep(ASK_EVERY_MS)) {
          // A client that has lost its header asks without it, and must not be asked to pay again.
          const [plain, found] = [await submit(id, undefined), await submit(id, header)];
          if (plain.claim === 'not paid' && found.claim === 'paid') return plain;
          if (found.claim !== 'not known' || Date.now() > endMs) return found;
        }
      },
    };
  }

  return {
    name: 'gateway',
    proxy,
    async prepare() {
      const payer = await newPayer(chain);
      const id = await create();
      for (const endMs = Date.now() + ANSWER_WITHIN_MS; ; await sleep(ASK_EVERY_MS)) {
        const asked = await submit(id, undefined);
        if (asked.status !== 402) {
          if (Date.now() > endMs) throw new Error(`The gateway does not ask: ${asked.text}`);
          continue;
        }
        const [accepted] = JSON.parse(asked.text.slice(4)).accepts;
        const { payload } = signPeerPayment({
          payer,
          token: accepted.asset as Hex,
          domain: { name: accepted.extra.name, version: accepted.extra.version },
          chainId: CHAIN_ID,
          payTo: accepted.payTo as Hex,
          value: BigInt(accepted.amount),
          nonce: keccak256(stringToBytes(id)),
          validBeforeS: Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds,
        });
        return prepared(payer, id, Buffer.from(JSON.stringify(payload)).toString('base64'));
      }
    },
    refresh: async () => proxy.answerTruthfully(),
    kill: () => gateway.kill(),
    start: () => gateway.start(),
    async stop() {
      await gateway.stop();
      await proxy.close();
    },
  };
}
