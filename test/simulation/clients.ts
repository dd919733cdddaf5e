import { isFinal } from '../../src/domain/payment.ts';
import { payByAddress } from './depositing.ts';
import { sellByLink } from './link-selling.ts';
import { refundIntoAddress, sendAfterEnd } from './money-habits.ts';
import { COIN, NETWORK, tokensOn, USDC } from './networks.ts';
import type { Payer } from './parties.ts';
import type { Way } from './plan.ts';
import { signForRefund } from './refund-signing.ts';
import { type Answer, request } from './requests.ts';
import { ask, openShopping, rest, type Shopping } from './shopping.ts';
import { type Stage, Violation } from './stage.ts';
import { payByX402 } from './x402-paying.ts';

/** The time within which clients begin. */
const OPENING_MS = 25_000;

/** Two minutes must be left when a payment gets an address. */
const ADDRESS_LIFE_S = [122, 130, 145];
/** Programs may be asked for another authorization when the first one has run out. */
const X402_LIFE_S = [140, 200, 260];

/** A shop's order and its payer: creates, pays, repeats, cancels, cheats, asks, and asks for a refund. */
export async function shop(stage: Stage, index: number, ways: readonly Way[]): Promise<void> {
  const shopping = openShopping(stage, `client ${index + 1}`);
  const { random } = shopping;
  await rest(shopping, random.below(OPENING_MS));
  const way = random.pick(ways);
  if (way === 'link') return sellByLink(shopping, pay);
  const paymentId = await create(shopping, lifeOf(shopping, way));
  if (paymentId === undefined) return;
  const paying = payBy(shopping, paymentId, way);
  if (random.chance(0.2)) {
    await rest(shopping, random.below(30_000));
    await ask(shopping, paymentId, { method: 'POST', url: `/v1/payments/${paymentId}/cancel` });
  }
  await paying;
  await follow(shopping, paymentId, way);
  if (random.chance(0.4)) await sendAfterEnd(shopping, paymentId);
}

function lifeOf({ random, stage }: Shopping, way: Way): number {
  if (way === 'address') return random.pick(ADDRESS_LIFE_S);
  if (way === 'x402') return random.pick(X402_LIFE_S);
  return Math.ceil(random.pick([12, 25, 40]) * stage.pace);
}

function payBy(shopping: Shopping, paymentId: string, way: Way): Promise<void> {
  if (way === 'address') return payByAddress(shopping, paymentId, pay);
  if (way !== 'x402') return pay(shopping, paymentId);
  // Its program and its wallet may both pay.
  const isAlone = !shopping.random.chance(0.25);
  if (!isAlone) shopping.stage.act(pay(shopping, paymentId));
  return payByX402(shopping, paymentId, isAlone);
}

/** True if the payment is paid into an address of its own. */
function hasAddress(way: Way): boolean {
  return way === 'address' || way === 'x402';
}

async function create(shopping: Shopping, lifeS: number): Promise<string | undefined> {
  const { stage, by, random, headers } = shopping;
  const referenceId = by.name.replace(' ', '-');
  const payload = {
    amount: { unit: 'iso4217/USD', value: String(random.between(100, 5_000)) },
    referenceId,
    expiresAt: Math.floor(stage.scheduler.nowMs() / 1000) + lifeS,
  };
  const send = async () => {
    const options = {
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'idempotency-key': referenceId },
    } as const;
    const answer = await request(stage, by, random, { ...options, payload });
    return answer?.status === 201 ? String(answer.body.paymentId) : undefined;
  };
  for (let tries = 0; tries < 4; tries += 1) {
    const answers = await Promise.all(random.chance(0.3) ? [send(), send()] : [send()]);
    for (const id of answers) {
      if (id === undefined) continue;
      const known = stage.created.get(referenceId) ?? id;
      if (known !== id) throw new Violation('one payment per key', `${referenceId} was answered ${known} and ${id}`);
      stage.created.set(referenceId, id);
    }
    const created = stage.created.get(referenceId);
    if (created !== undefined) return created;
    await rest(shopping, 2_000);
  }
  return undefined;
}

interface OptionBody {
  readonly id: string;
  readonly amount: { readonly unit: string };
  readonly actions: readonly {
    readonly type: string;
    readonly data: { readonly data?: string; readonly params?: readonly string[] };
  }[];
}

/** The text to sign: in the request itself, or in the data to fetch it with. */
function typedDataOf({ actions }: OptionBody): string {
  const { data = '', params = JSON.parse(Buffer.from(data, 'hex').toString()).params } = actions[0]?.data ?? {};
  return params[1];
}

async function pay(shopping: Shopping, paymentId: string): Promise<void> {
  const { random, payer, stage } = shopping;
  const gateway = `/v1/gateway/payment/${paymentId}`;
  await rest(shopping, random.below(10_000));
  for (let tries = 0; tries < 3; tries += 1) {
    const listed = await ask(shopping, paymentId, {
      method: 'POST',
      url: `${gateway}/options`,
      payload: { accounts: payer.accounts },
    });
    const options: readonly OptionBody[] = listed?.status === 200 ? listed.body.options : [];
    const asset = random.chance(0.15) ? COIN : random.chance(0.6) ? USDC : random.pick(tokensOn(stage.networks));
    const option = options.find(({ amount }) => amount.unit === `caip19/${asset}`);
    if (option !== undefined) {
      // Some payers hesitate until the payment or the quote runs out.
      await rest(shopping, random.chance(0.25) ? random.below(45_000) : random.below(4_000));
      const isDone =
        asset === COIN ? await payCoin(shopping, paymentId, option) : await sign(shopping, paymentId, option);
      if (isDone) return;
    }
    await rest(shopping, random.between(500, 6_000));
  }
}

async function sign(shopping: Shopping, paymentId: string, option: OptionBody): Promise<boolean> {
  const { stage, random, payer, merchant } = shopping;
  const typed = typedDataOf(option);
  const confirm = async (signer: Payer, id = paymentId) => {
    const data = [await signer.signTypedData(typed)];
    stage.noteConfirm(merchant.id);
    return ask(shopping, id, {
      method: 'POST',
      url: `/v1/gateway/payment/${id}/confirm${random.chance(0.2) ? '?maxPollMs=8000' : ''}`,
      payload: { optionId: option.id, results: [{ type: 'walletRpc', data }] },
    });
  };
  if (random.chance(0.15)) await cheat(shopping, paymentId, confirm);
  if (random.chance(0.3)) stage.act(confirm(payer));
  const answers = await Promise.all(random.chance(0.3) ? [confirm(payer), confirm(payer)] : [confirm(payer)]);
  return answers.some((answer) => answer?.status === 200);
}

/** A signature of another account, or an option of another payment, is never accepted. */
async function cheat(
  { stage, random, payer }: Shopping,
  paymentId: string,
  confirm: (signer: Payer, id?: string) => Promise<Answer | undefined>,
): Promise<void> {
  const others = stage.payers.filter(({ address }) => address !== payer.address);
  const foreign = [...stage.created.values()].filter((id) => id !== paymentId);
  const isForeign = foreign.length > 0 && random.chance(0.5);
  const before = await countItems(stage, paymentId);
  const answer = isForeign ? await confirm(payer, random.pick(foreign)) : await confirm(random.pick(others));
  const after = await countItems(stage, paymentId);
  if (after > before) throw new Violation('cheats are refused', `${paymentId} was paid by a wrong signature`);
  stage.scheduler.note(`a cheat was answered ${answer?.status}`);
}

async function countItems({ sql }: Stage, paymentId: string): Promise<number> {
  return (await sql`select from items where subject = ${paymentId}`).length;
}

async function payCoin(shopping: Shopping, paymentId: string, option: OptionBody): Promise<boolean> {
  const { stage, random } = shopping;
  const gateway = `/v1/gateway/payment/${paymentId}`;
  const data = option.actions[0]?.data.data ?? '';
  const fetched = await ask(shopping, paymentId, {
    method: 'POST',
    url: `${gateway}/fetch`,
    payload: { optionId: option.id, data },
  });
  const action = fetched?.status === 200 ? fetched.body.actions[0]?.data : undefined;
  if (action === undefined) return false;
  const hash = stage.control.send({ method: action.method, params: action.params });
  stage.scheduler.note(`${shopping.by.name}: sends coin in ${hash.slice(0, 10)}`);
  if (random.chance(0.2)) return true;
  const results = [{ type: 'walletRpc', data: [hash] }];
  await ask(shopping, paymentId, {
    method: 'POST',
    url: `${gateway}/confirm`,
    payload: { optionId: option.id, results },
  });
  return true;
}

/** The most that a shop waits for the end of a payment by address, beyond its usual patience. */
const ADDRESS_POLLS = 30;

/**
 * Asks for the status until it is final, then perhaps for a receipt, and for refunds: of parts, and of the rest, perhaps twice at
 * once. Perhaps the merchant signs for one of them.
 */
async function follow(shopping: Shopping, paymentId: string, way: Way): Promise<void> {
  const { random } = shopping;
  const wantsRefund = random.chance(0.5);
  const polls = hasAddress(way) ? ADDRESS_POLLS : 12;
  for (let asked = 0; asked < polls; asked += 1) {
    const answer = await ask(shopping, paymentId, { url: `/v1/payments/${paymentId}/status` });
    const status = answer?.body?.status;
    if (answer?.status === 200 && isFinal(status)) {
      if (status === 'succeeded') break;
      return;
    }
    await rest(shopping, random.between(2_000, 15_000));
  }
  if (random.chance(0.4)) await askForReceipt(shopping, paymentId);
  if (!wantsRefund) return;
  if (random.chance(0.3)) await refundIntoAddress(shopping, paymentId);
  await refund(shopping, paymentId, way);
  if (random.chance(0.7)) await signForRefund(shopping, paymentId);
}

async function askForReceipt(shopping: Shopping, paymentId: string): Promise<void> {
  const { random, stage } = shopping;
  const url = `/v1/gateway/payment/${paymentId}/receipt-email`;
  const payload = { email: `payer@${random.pick(['one', 'two'])}.example` };
  const send = () => ask(shopping, paymentId, { method: 'POST', url, payload });
  const answers = await Promise.all(random.chance(0.3) ? [send(), send()] : [send()]);
  if (answers.some((answer) => answer?.status === 202)) stage.receipts.push({ paymentId, recipient: payload.email });
}

/** The network that the payer has paid on. */
async function paidOn({ sql }: Stage, paymentId: string): Promise<string> {
  const rows = await sql<{ network: string }[]>`
    select network from lots where payment_id = ${paymentId} order by is_paying desc, number limit 1`;
  return rows[0]?.network ?? NETWORK;
}

async function refund({ stage, by, random, headers, payer }: Shopping, paymentId: string, way: Way): Promise<void> {
  // The sender of a transfer may be an exchange, so its refund names the account.
  const destination = hasAddress(way) ? { destination: `${await paidOn(stage, paymentId)}:${payer.address}` } : {};
  const send = (payload: object, more: Record<string, string> = {}) =>
    request(stage, by, random, {
      method: 'POST',
      url: '/v1/refunds',
      headers: { ...headers, ...more },
      payload: { ...payload, ...destination },
    });
  const part = (number: number) => {
    const amount = { unit: 'iso4217/USD', value: String(random.between(1, 2_000)) };
    return send({ paymentId, amount }, { 'idempotency-key': `part-${number}-of-${paymentId}` });
  };
  const whole = () => send({ paymentId });
  await Promise.all(random.chance(0.5) ? [whole(), whole()] : [part(1), part(2), part(3)]);
  if (random.chance(0.5)) await whole();
}
