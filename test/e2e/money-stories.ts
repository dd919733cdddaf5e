import assert from 'node:assert/strict';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { mailReceipt } from '../../src/actions/paying/mail-receipt.ts';
import { searchStrays } from '../../src/actions/watch/deposits/search-strays.ts';
import type { Chains } from '../../src/chains/chains.ts';
import type { ReceiptContent } from '../../src/domain/mail.ts';
import { receiptKeyOf } from '../../src/domain/receipt.ts';
import { letterOf } from '../../src/mail/letter.ts';
import type { PaymentPage } from '../../web/src/checkout/page-state.ts';
import { en as checkoutWords } from '../../web/src/checkout/strings/en.ts';
import type { ReceiptPage } from '../../web/src/receipts/page-state.ts';
import { sheetOf } from '../../web/src/receipts/receipt-sheet.ts';
import { wordsIn } from '../../web/src/receipts/receipt-words.ts';
import { createTestKey, startTestGateway } from '../gateway.ts';
import { standInPage } from './checkout-page.ts';
import type { Json } from './list-test.ts';
import { BASE_SEPOLIA, BASE_SEPOLIA_USDC } from './paying-shop.ts';
import { openRefundScene, TETHER } from './refund-scene.ts';

const MINUTE_MS = 60_000;
const EVERYTHING = { watching: { sweepFrom: () => 0n } };
const REASONS = ['late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network'] as const;

/** What a place says of the money of a payment: the units that paid, and those that did not count. */
interface Told {
  readonly paid: string;
  /** `reason units`, or the units alone where a place has no reasons. */
  readonly late: readonly string[];
}

/** A way money can arrive for a payment of 1,000 units, and the story that every place must tell of it. */
interface Way extends Told {
  readonly name: string;
  /** Brings it about, and returns the payment. */
  readonly happen: (world: World) => Promise<string>;
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld() {
  const scene = await openRefundScene(EVERYTHING);
  const other = await openRefundScene({ ...EVERYTHING, beside: { ...scene, network: BASE_SEPOLIA } });
  const gateway = await startTestGateway({
    databaseUrl: scene.databaseUrl,
    chains: scene.chains,
    world: { clock: { nowMs: scene.nowMs } },
    page: standInPage(),
  });
  const { secret } = await createTestKey(gateway, 'prtn_test');
  const [node, there] = [await scene.newNode(), await other.newNode()];
  await scene.live(node, 1);
  const end = async (paymentId: string, event: Parameters<typeof scene.movePayment>[0]['event']) => {
    await scene.movePayment({ paymentId, event, actor: 'test', evidence: {} });
  };
  return {
    scene,
    other,
    gateway,
    node,
    there,
    headers: { 'api-key': secret, 'merchant-id': scene.merchantId },
    end,
    live: (turns = 5) => scene.live(node, turns),
    async close() {
      await gateway.stop();
      await other.close();
      await scene.close();
    },
  };
}

const CANCELLED = { type: 'cancelled', by: 'merchant' } as const;
const FAILED = { type: 'failed', failureCode: null } as const;

const WAYS: readonly Way[] = [
  {
    name: 'exact',
    paid: '1000',
    late: [],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_000n);
      await live();
      return id;
    },
  },
  {
    name: 'exact, by a wallet',
    paid: '1000',
    late: [],
    happen: async ({ scene, node }) => (await scene.paid(node)).id,
  },
  {
    name: 'less',
    paid: '-',
    late: ['underpaid 400'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      send(400n);
      await live(2);
      scene.pass(16 * MINUTE_MS);
      await live(6);
      return id;
    },
  },
  {
    name: 'more',
    paid: '1000',
    late: ['overpaid 500'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_500n);
      await live();
      return id;
    },
  },
  {
    name: 'twice, by a wallet and an address',
    paid: '1000',
    late: ['paid_twice 1000'],
    async happen({ scene, node, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      await scene.accept({ told: { subject: id } });
      await node.turn(2);
      send(1_000n);
      await live(4);
      scene.pass(16 * MINUTE_MS);
      await live(4);
      return id;
    },
  },
  {
    name: 'late, by a wallet',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, end, live }) {
      const { id } = await scene.accept();
      await end(id, FAILED);
      await live(3);
      return id;
    },
  },
  {
    name: 'another token',
    paid: '-',
    late: ['wrong_token 700'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      send(700n, { token: TETHER });
      await live(3);
      scene.pass(16 * MINUTE_MS);
      await live(6);
      return id;
    },
  },
  {
    name: 'another network',
    paid: '-',
    late: ['wrong_network 2000'],
    async happen({ scene, other, node, there }) {
      const { id, address } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      other.control.setBalance(address, BASE_SEPOLIA_USDC, 2_000n);
      scene.pass(16 * MINUTE_MS);
      await Promise.all([node.turn(2), there.turn(2)]);
      const chains: Chains = {
        find: (network) => [scene, other].find((each) => each.network === network)?.connected,
        list: () => [scene.connected, other.connected],
      };
      const search = () =>
        searchStrays(
          { ...scene, chains, sweepFrom: () => 0n },
          { paymentId: id, network: undefined, isSweep: true, actor: 'operator' },
        );
      await search();
      await there.turn(4);
      await search();
      await Promise.all([node.turn(4), there.turn(2)]);
      return id;
    },
  },
  {
    name: 'two tokens',
    paid: '1000',
    late: ['wrong_token 300'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(300n, { token: TETHER });
      send(1_000n);
      await live(6);
      return id;
    },
  },
  {
    name: 'after cancel',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, end, live }) {
      const { id, send } = await scene.deposit();
      await end(id, CANCELLED);
      scene.pass(MINUTE_MS);
      send(1_000n);
      await live();
      return id;
    },
  },
  {
    name: 'after expiry',
    paid: '-',
    late: ['late 1000'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit({ lifeMs: 5 * MINUTE_MS });
      scene.pass(16 * MINUTE_MS);
      await live(3);
      send(1_000n);
      await live();
      return id;
    },
  },
  {
    name: 'after refund',
    paid: '1000',
    late: ['overpaid 600'],
    async happen({ scene, live }) {
      const { id, send } = await scene.deposit();
      send(1_000n);
      await live();
      const recipient = scene.payers.newAccount();
      const destination = { id: `${scene.network}:${recipient}`, chainId: scene.network, address: recipient };
      await scene.request(id, { destination: { ...destination, namespace: 'eip155' } });
      await coverRefunds(scene);
      send(600n);
      await live();
      return id;
    },
  },
];

/** The page has an address that only the partner and the payer are told. */
async function receiptPath(id: string, read: (url: string) => Promise<Json>): Promise<string> {
  const { pageUrl } = await read(`/v1/payments/${id}/receipt`);
  return new URL(pageUrl as string).pathname;
}

/** A place that tells of a payment's money. Null: it has nothing of this payment, such as a receipt of an unpaid one. */
type Place = (world: World, id: string, read: (url: string) => Promise<Json>) => Promise<Told | null>;

const lateOf = (money: readonly Json[]) => money.map(({ reason, amount }) => `${reason} ${amount.value}`).sort();

/** By the words of a place, in which a reason is spelled for people. */
function reasonIn(words: Readonly<Record<(typeof REASONS)[number], string>>, text: string): string {
  return REASONS.find((reason) => words[reason] === text) ?? text;
}

/** Amounts are shown as tokens with six decimals. */
const unitsIn = (text: string) => String(Math.round(Number(/[\d.]+/.exec(text)?.[0] ?? '0') * 1e6));

const PLACES: Readonly<Record<string, Place>> = {
  async API(_, id, read) {
    const { info, lateMoney } = await read(`/v1/payments/${id}`);
    return { paid: info?.optionAmount.value ?? '-', late: lateOf(lateMoney) };
  },
  async gateway(_, id, read) {
    const { info } = await read(`/v1/gateway/payment/${id}/status`);
    const { lateMoney } = await read(`/v1/gateway/payment/${id}`);
    return { paid: info?.optionAmount.value ?? '-', late: lateOf(lateMoney) };
  },
  async list(_, id, read) {
    const { data } = await read('/v1/payments?limit=100');
    const { status, tokenAmount, lateMoney = [] } = data.find((each: Json) => each.paymentId === id);
    return { paid: status === 'succeeded' ? tokenAmount.value : '-', late: lateOf(lateMoney) };
  },
  async dashboard(_, id, read) {
    const { lateMoney } = await read(`/v1/late-money?paymentId=${id}`);
    const { info } = await read(`/v1/payments/${id}`);
    return { paid: info?.optionAmount.value ?? '-', late: lateOf(lateMoney) };
  },
  /** Opened after the end: the document has everything that the page shows. */
  async checkout({ gateway }, id) {
    const { payment, strings } = await stateIn<PaymentPage>(gateway, `/?pid=${id}`);
    for (const name of ['expiredText', 'expiredTextAlone', 'cancelledText', 'failedText', 'declinedText'] as const) {
      assert.doesNotMatch(strings[name], /charged|not been paid/, 'without evidence nothing is said to be charged');
    }
    return { paid: payment.info?.optionAmount.value ?? '-', late: lateOf(payment.lateMoney ?? []) };
  },
  async receipt({ gateway }, id, read) {
    if ((await read(`/v1/payments/${id}`)).info === null) return null;
    const { paid, lateMoney } = await stateIn<ReceiptPage>(gateway, await receiptPath(id, read));
    return { paid: paid.value, late: lateOf(lateMoney) };
  },
  async PDF({ gateway }, id, read) {
    if ((await read(`/v1/payments/${id}`)).info === null) return null;
    const sheet = sheetOf(await stateIn<ReceiptPage>(gateway, await receiptPath(id, read)), wordsIn('en'));
    const rows = sheet.sections.flatMap((section) => section.rows);
    const paid = rows.find(({ label }) => label === checkoutWords.paidWith)?.value ?? '';
    const late = sheet.sections.find(({ title }) => title === checkoutWords.lateMoney)?.rows ?? [];
    return {
      paid: unitsIn(paid),
      late: late.map(({ label, value }) => `${reasonIn(checkoutWords, label)} ${unitsIn(value)}`).sort(),
    };
  },
  async mail({ scene, gateway }, id, read) {
    if ((await read(`/v1/payments/${id}`)).info === null) return null;
    const payment = await scene.payment(id);
    const receiptKey = receiptKeyOf(new Uint8Array(32).fill(7));
    const to = { recipient: 'payer@example.com', language: 'en', merchantName: 'Shop' } as const;
    await mailReceipt({ ...gateway, receiptKey }, { payment, ...to, pageUrl: 'https://x', explorerUrl: null });
    const [row] = await scene.db.sql<{ content: ReceiptContent }[]>`select content from mails where subject = ${id}`;
    assert.ok(row);
    const lines = letterOf({ content: row.content, language: 'en', link: undefined }).text.split('\n');
    const valueAt = (label: string) => lines.find((line) => line.startsWith(`${label}: `))?.slice(label.length + 2);
    return {
      paid: unitsIn(valueAt('Paid with') ?? ''),
      late: REASONS.flatMap((reason) => {
        const value = valueAt(checkoutWords[reason]);
        return value === undefined ? [] : [`${reason} ${unitsIn(value)}`];
      }),
    };
  },
  /** The lines of the books have no reasons. */
  async export({ gateway, headers }, id) {
    const url = '/v1/exports/payments?content=bookkeeping&format=jsonl';
    const { body } = await gateway.call({ url, headers });
    const lines: Json[] = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const own = lines.filter(({ paymentId }) => paymentId === id);
    const sumOf = (found: readonly Json[]) => found.reduce((sum, { amount }) => sum + Math.round(amount * 1e6), 0);
    for (const asset of new Set(own.map((line) => line.asset))) {
      assert.equal(sumOf(own.filter((line) => line.asset === asset)), 0, `the lines of ${id} add up to zero`);
    }
    const fiat = own.reduce((sum, { fiatAmount }) => sum + Math.round(Number(fiatAmount ?? 0) * 100), 0);
    assert.equal(fiat, 0, 'so do their values');
    const paid = own.filter(({ type }) => type === 'payment');
    const late = own.filter(({ type }) => type === 'late_payment');
    return {
      paid: paid.length === 0 ? '-' : String(sumOf(paid)),
      late: late.map((line) => String(sumOf([line]))).sort(),
    };
  },
  async timeline(_, id, read) {
    const { entries } = await read(`/v1/payments/${id}/timeline`);
    const texts: string[] = entries.map(({ text }: Json) => text);
    const isPaid = texts.some((text) => text.startsWith('The payment has arrived'));
    assert.ok(!texts.some((text) => /nothing was charged\./.test(text)), texts.join('\n'));
    const late = entries.filter(({ what }: Json) => what === 'payment.late_money');
    return {
      paid: isPaid ? '1000' : '-',
      late: late
        .map(({ text }: Json) => `${TIMELINE[text.split(': ').at(-1)]} ${unitsIn(text.split('. ').at(-1))}`)
        .sort(),
    };
  },
  async webhook(_, id, read) {
    const { events } = await read('/v1/events?types=payment.succeeded,payment.late_money&limit=100');
    const own = events.filter(({ data }: Json) => data.paymentId === id);
    const of = (type: string) => own.filter((event: Json) => event.type === type).map(({ data }: Json) => data);
    return {
      paid: of('payment.succeeded')[0]?.info.optionAmount.value ?? '-',
      late: lateOf(of('payment.late_money').map(({ lateMoney }: Json) => lateMoney)),
    };
  },
};

/** The reasons in the words of the timeline. */
const TIMELINE: Readonly<Record<string, string>> = {
  'it came too late.': 'late',
  'it is more than was asked.': 'overpaid',
  'it was too little when the time to pay was over.': 'underpaid',
  'the payment was paid already.': 'paid_twice',
  'it is another token than the deposit address asks for.': 'wrong_token',
  'it came to the deposit address on another network.': 'wrong_network',
};

async function stateIn<State>({ call }: World['gateway'], url: string): Promise<State> {
  const { body, statusCode } = await call({ url, headers: { accept: 'text/html' } });
  assert.equal(statusCode, 200, body);
  const [, text = 'null'] = /id="state">(.*?)<\/script>/s.exec(body) ?? [];
  return JSON.parse(text);
}

interface Row {
  readonly way: Way;
  /** By place; undefined where a place has nothing of the payment. */
  readonly told: ReadonlyMap<string, Told | null>;
}

/** Every way and what every place says of it. */
export async function tellStories(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const way of WAYS) {
    const world = await openWorld();
    try {
      const id = await way.happen(world);
      const read = async (url: string) => {
        const { statusCode, body, json } = await world.gateway.call({ url, headers: world.headers });
        assert.equal(statusCode, 200, `${url}: ${body}`);
        return json();
      };
      const told = new Map<string, Told | null>();
      for (const [name, place] of Object.entries(PLACES)) told.set(name, await place(world, id, read));
      rows.push({ way, told });
    } finally {
      await world.close();
    }
  }
  return rows;
}

export const textOf = (told: Told | null) =>
  told === null ? '' : `${told.paid}${told.late.map((late) => ` + ${late}`).join('')}`;

/** The export has no reasons. */
export function expectedAt(place: string, { paid, late }: Told): Told {
  return { paid, late: place === 'export' ? late.map((each) => each.split(' ')[1] ?? '').sort() : [...late].sort() };
}
