import assert from 'node:assert/strict';
import { exportBooks } from '../../src/actions/books/export-books.ts';
import { mailReceipt } from '../../src/actions/paying/mail-receipt.ts';
import type { LateState } from '../../src/domain/late-money.ts';
import type { ReceiptContent } from '../../src/domain/mail.ts';
import { parseDecimal } from '../../src/domain/money.ts';
import { receiptKeyOf } from '../../src/domain/receipt.ts';
import { letterOf } from '../../src/mail/letter.ts';
import { en as mailWords } from '../../src/mail/words/en.ts';
import type { PaymentPage } from '../../web/src/checkout/page-state.ts';
import { en as checkoutWords } from '../../web/src/checkout/strings/en.ts';
import { endingOf, isFinal } from '../../web/src/pos/ending.ts';
import type { Ask } from '../../web/src/pos/gateway.ts';
import { type Kept, writeKept } from '../../web/src/pos/kept.ts';
import { createPos } from '../../web/src/pos/pos.ts';
import { STRINGS as POS_STRINGS } from '../../web/src/pos/pos-words.ts';
import type { ReceiptPage } from '../../web/src/receipts/page-state.ts';
import { sheetOf } from '../../web/src/receipts/receipt-sheet.ts';
import { wordsIn } from '../../web/src/receipts/receipt-words.ts';
import { createServerClock } from '../../web/src/shared/server-clock.ts';
import { REGISTRY } from '../registry.ts';
import { until } from '../until.ts';
import type { Json } from './list-test.ts';
import type { Report, World } from './money-ways.ts';

const REASONS = ['late', 'overpaid', 'underpaid', 'paid_twice', 'wrong_token', 'wrong_network'] as const;

/** The page has an address that only the partner and the payer are told. */
async function receiptPath(id: string, read: (url: string) => Promise<Json>): Promise<string> {
  const { pageUrl } = await read(`/v1/payments/${id}/receipt`);
  return new URL(pageUrl as string).pathname;
}

/** A place that tells of a payment's money. Null: it has nothing of this payment, such as a receipt of an unpaid one. */
type Place = (world: World, id: string, read: (url: string) => Promise<Json>) => Promise<Report | null>;

const lateOf = (money: readonly Json[]) => money.map(({ reason, amount }) => `${reason} ${amount.value}`).sort();

/** The state of the return, or of the returns. */
function backOf(money: readonly Json[]): LateState | undefined {
  const states = [...new Set(money.map(({ status }) => status))];
  return states.length === 0 ? undefined : (states.join(', ') as LateState);
}

/** The state that a text for people names. The first text has a name of a merchant in the middle. */
function backIn(words: Readonly<Record<keyof typeof BACK_TEXTS, string>>, text: string | undefined) {
  const keys = Object.keys(BACK_TEXTS) as (keyof typeof BACK_TEXTS)[];
  const key = keys.find((each) => text?.endsWith(words[each].split('}').at(-1) ?? '?'));
  return key && BACK_TEXTS[key];
}

const BACK_TEXTS = { lateText: 'unclaimed', lateReturning: 'requested', lateReturned: 'returned' } as const;

/** By the words of a place, in which a reason is spelled for people. */
function reasonIn(words: Readonly<Record<(typeof REASONS)[number], string>>, text: string): string {
  return REASONS.find((reason) => words[reason] === text) ?? text;
}

/** The tokens have six decimals, and the coin has 18. */
const unitsIn = (text: string) =>
  String(Math.round(Number(/[\d.]+/.exec(text)?.[0] ?? '0') * (text.includes('ETH') ? 1e18 : 1e6)));

/** The smallest units of an exact amount in whole tokens, which may be negative. */
function inUnits(asset: string, text: string): bigint {
  const { decimals } = REGISTRY.asset(asset) ?? assert.fail(asset);
  const { units, decimals: own } = parseDecimal(text.replace('-', '')) ?? assert.fail(text);
  return units * 10n ** BigInt(decimals - own) * (text.startsWith('-') ? -1n : 1n);
}

export const PLACES: Readonly<Record<string, Place>> = {
  async API(_, id, read) {
    const { info, lateMoney } = await read(`/v1/payments/${id}`);
    return { paid: info?.optionAmount.value ?? '-', late: lateOf(lateMoney), back: backOf(lateMoney) };
  },
  async gateway(_, id, read) {
    const { info } = await read(`/v1/gateway/payment/${id}/status`);
    const { lateMoney } = await read(`/v1/gateway/payment/${id}`);
    return { paid: info?.optionAmount.value ?? '-', late: lateOf(lateMoney), back: backOf(lateMoney) };
  },
  async list(_, id, read) {
    const { data } = await read('/v1/payments?limit=100');
    const { status, tokenAmount, lateMoney = [] } = data.find((each: Json) => each.paymentId === id);
    return { paid: status === 'succeeded' ? tokenAmount.value : '-', late: lateOf(lateMoney), back: backOf(lateMoney) };
  },
  /** The settlement and the fee are the money that counted. Late money is no part of them. */
  async settlement(_, id, read) {
    const { settlement } = await read(`/v1/payments/${id}`);
    const { data } = await read('/v1/payments?limit=100');
    const listed = data.find((each: Json) => each.paymentId === id);
    const settled: string | undefined = settlement?.successful.amount.value;
    assert.equal(listed.settlement?.amount?.value, settled, 'the payment and the list tell the same');
    const paid = settled === undefined ? '-' : String(BigInt(settled) + BigInt(listed.fees.total.value));
    return { paid, late: [] };
  },
  async 'data of the dashboard'(_, id, read) {
    const { lateMoney } = await read(`/v1/late-money?paymentId=${id}`);
    const { info } = await read(`/v1/payments/${id}`);
    return { paid: info?.optionAmount.value ?? '-', late: lateOf(lateMoney), back: backOf(lateMoney) };
  },
  /** Opened after the end: the document has everything that the page shows. */
  async 'state of the checkout'({ gateway }, id) {
    const { payment, strings } = await stateIn<PaymentPage>(gateway, `/?pid=${id}`);
    for (const name of ['expiredText', 'expiredTextAlone', 'cancelledText', 'failedText', 'declinedText'] as const) {
      assert.doesNotMatch(strings[name], /charged|not been paid/, 'without evidence nothing is said to be charged');
    }
    return {
      paid: payment.info?.optionAmount.value ?? '-',
      late: lateOf(payment.lateMoney ?? []),
      back: backOf(payment.lateMoney ?? []),
    };
  },
  async receipt({ gateway }, id, read) {
    if ((await read(`/v1/payments/${id}`)).info === null) return null;
    const { paid, lateMoney } = await stateIn<ReceiptPage>(gateway, await receiptPath(id, read));
    return { paid: paid.value, late: lateOf(lateMoney), back: backOf(lateMoney) };
  },
  async PDF({ gateway }, id, read) {
    if ((await read(`/v1/payments/${id}`)).info === null) return null;
    const sheet = sheetOf(await stateIn<ReceiptPage>(gateway, await receiptPath(id, read)), wordsIn('en'));
    const rows = sheet.sections.flatMap((section) => section.rows);
    const paid = rows.find(({ label }) => label === checkoutWords.paidWith)?.value ?? '';
    const section = sheet.sections.find(({ title }) => title === checkoutWords.lateMoney);
    const late = section?.rows ?? [];
    return {
      paid: unitsIn(paid),
      late: late.map(({ label, value }) => `${reasonIn(checkoutWords, label)} ${unitsIn(value)}`).sort(),
      back: backIn(checkoutWords, section?.text),
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
      back: lines.map((line) => backIn(mailWords, line)).find((back) => back !== undefined),
    };
  },
  /** The lines of the books have no reasons. */
  async export({ gateway, headers }, id) {
    const url = '/v1/exports/payments?content=bookkeeping&format=jsonl';
    const { body } = await gateway.call({ url, headers });
    const lines: Json[] = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const own = lines.filter(({ paymentId }) => paymentId === id);
    const sumOf = (found: readonly Json[]) =>
      found.reduce((sum, { amount, asset }) => sum + Math.round(amount * (asset.includes('/slip44:') ? 1e18 : 1e6)), 0);
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
  /** The export for accounting. It has a line for each entry of the books that is somebody's earnings. */
  async books({ scene }, id) {
    const { status, tokenAsset, tokenValue } = await scene.payment(id);
    const sums = new Map<string, bigint>();
    const until = new Date(scene.nowMs() + 1);
    for await (const row of exportBooks(scene.db.sql, REGISTRY, { from: new Date(0), to: until })) {
      if (row.payment !== id || /refund|return/.test(row.kind)) continue;
      assert.equal(inUnits(row.asset, row.gross), inUnits(row.asset, row.fee) + inUnits(row.asset, row.net));
      sums.set(row.asset, (sums.get(row.asset) ?? 0n) + inUnits(row.asset, row.gross));
    }
    const isPaid = status === 'succeeded';
    if (isPaid && tokenAsset !== null) sums.set(tokenAsset, (sums.get(tokenAsset) ?? 0n) - BigInt(tokenValue ?? 0));
    const late = [...sums.values()].filter((sum) => sum !== 0n).map(String);
    return { paid: isPaid ? String(tokenValue) : '-', late: late.sort() };
  },
  /** One line for each payment. */
  async 'export of payments'({ gateway, headers }, id) {
    const { body } = await gateway.call({ url: '/v1/exports/payments?format=jsonl', headers });
    const lines: Json[] = body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const { status, tokenAmount, token, lateMoney } = lines.find(({ paymentId }) => paymentId === id);
    const late: readonly string[] = lateMoney?.split('; ') ?? [];
    return {
      paid: status === 'succeeded' ? unitsIn(`${tokenAmount} ${token}`) : '-',
      late: late.map((text) => `${text.split(' ')[0]} ${unitsIn(text.replace(/^\w+ /, ''))}`).sort(),
    };
  },
  async timeline(_, id, read) {
    const { entries } = await read(`/v1/payments/${id}/timeline`);
    const texts: string[] = entries.map(({ text }: Json) => text);
    const paid = texts.find((text) => text.startsWith('The payment has arrived'));
    const amount = /at final depth\. ([\d.]+ \w+) on /.exec(paid ?? '')?.[1];
    assert.equal(amount === undefined, paid === undefined, 'the amount that paid is named');
    assert.ok(!texts.some((text) => /nothing was charged/i.test(text)), texts.join('\n'));
    const late = entries.filter(({ what }: Json) => what === 'payment.late_money');
    const last = entries.filter(({ what }: Json) => what === 'payment.late_money_updated').at(-1)?.text;
    const known = RETURN_TEXTS.find(([text]) => last?.endsWith(text))?.[1];
    return {
      paid: amount === undefined ? '-' : unitsIn(amount),
      late: late
        .map(({ text }: Json) => `${TIMELINE[text.split(': ').at(-1)]} ${unitsIn(text.split('. ').at(-1))}`)
        .sort(),
      back: late.length === 0 ? undefined : (known ?? 'unclaimed'),
    };
  },
  async webhook(_, id, read) {
    const { events } = await read(
      '/v1/events?types=payment.succeeded,payment.late_money,payment.late_money_updated&limit=100',
    );
    const own = events.filter(({ data }: Json) => data.paymentId === id);
    const of = (type: string) => own.filter((event: Json) => event.type === type).map(({ data }: Json) => data);
    const [late, updated] = ['payment.late_money', 'payment.late_money_updated'].map((type) =>
      of(type).map(({ lateMoney }: Json) => lateMoney),
    );
    return {
      paid: of('payment.succeeded')[0]?.info.optionAmount.value ?? '-',
      late: lateOf(late),
      back: late.length === 0 ? undefined : (updated.at(-1)?.status ?? 'unclaimed'),
    };
  },
  /** A device that opens with the payment on its screen. Of a paid one it shows the price, at 10 units a cent. */
  async 'point of sale'(world, id, read) {
    const { amount } = await read(`/v1/payments/${id}`);
    const pos = openPos(world, id, amount.value);
    try {
      await pos.start('');
      const shown = () => pos.view().kept.recent.find((payment) => payment.id === id);
      await until('the device has read the late money', () => shown()?.lateMoney !== undefined);
      const { status, total, lateMoney = [] } = shown() ?? {};
      assert.ok(status !== undefined && isFinal(status));
      const words = POS_STRINGS.en;
      assert.ok(words);
      const { title, text = '', late } = endingOf({ status, lateMoney }, words, { locale: 'en', dir: 'ltr' });
      assert.doesNotMatch(`${title} ${text}`, /not paid/i);
      return {
        paid: title === words.paidTitle ? `${total}0` : '-',
        // The page rounds coin, so the units are those that it has read.
        late: (late?.rows ?? [])
          .map(({ label }, index) => `${reasonIn(words, label)} ${lateMoney[index]?.amount.value}`)
          .sort(),
        back: backIn(words, late?.text),
      };
    } finally {
      pos.stop();
    }
  },
};

function openPos({ scene, gateway, headers }: World, id: string, amount: string) {
  const items = new Map<string, string>();
  const storage = {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
  };
  const place = { merchantId: scene.merchantId, merchantName: 'Shop', mode: 'test' } as const;
  const order = { key: 'key-of-the-order', place, currency: 'USD', decimals: 2, amount, tip: '0' };
  const open = { order, payment: { id, gatewayUrl: '', expiresAtS: 0 } };
  writeKept(storage, { open, recent: [], currency: 'USD', place } satisfies Kept);
  const ask: Ask = async ({ path }) => {
    const answer = await gateway.call({ url: path, headers });
    if (answer.statusCode !== 200) return { is: 'refused', status: answer.statusCode, code: 'x', message: answer.body };
    return { is: 'ok', body: answer.json(), etag: undefined, serverMs: undefined };
  };
  return createPos({
    ask,
    storage,
    clock: createServerClock(0, () => 0, 0),
    newKey: () => 'key',
    random: () => 0.5,
    outside: new EventTarget(),
    onPaid: () => {},
    firstMode: 'test',
    currencies: [{ code: 'USD', decimals: 2, modes: ['test'] }],
    words: { sale: 'Sale', tip: 'Tip' },
  });
}

/** The states of a return in the words of the timeline. */
const RETURN_TEXTS = [
  ['its return was requested.', 'requested'],
  ['it has arrived.', 'returned'],
] as const;

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
