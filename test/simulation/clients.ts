import { isFinal, type PaymentStatus } from '../../src/domain/payment.ts';
import { COIN, type Payer, type SimMerchant, USDC } from './parties.ts';
import { type Answer, type Asking, request } from './requests.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import { type Stage, Violation } from './stage.ts';

/** Checks what a client was told about a payment at the moment it is told. */
async function tell(stage: Stage, paymentId: string, status: unknown): Promise<void> {
  if (typeof status !== 'string' || !isFinal(status as PaymentStatus)) return;
  const before = stage.told.get(paymentId);
  if (before !== undefined && before.status !== status) {
    throw new Violation('answers stay true', `${paymentId} was told to be ${before.status}, then ${status}`);
  }
  stage.told.set(paymentId, { status, step: stage.scheduler.steps() });
  if (status === 'succeeded' && (await stage.paidOnChain(paymentId)).length === 0) {
    throw new Violation('answers are true', `${paymentId} was told to have succeeded without a transfer on the chain`);
  }
}

interface Shopping {
  readonly stage: Stage;
  readonly by: Participant;
  readonly random: Seeded;
  readonly payer: Payer;
  readonly merchant: SimMerchant;
  readonly headers: Record<string, string>;
}

/** Clients of a short run do everything in less time. */
function rest({ stage, by }: Pick<Shopping, 'stage' | 'by'>, ms: number): Promise<void> {
  return stage.scheduler.sleep(by, Math.round(ms * stage.pace));
}

/** The time within which clients begin. */
const OPENING_MS = 25_000;

/** A shop's order and its payer: creates, pays, repeats, cancels, cheats, asks, and asks for a refund. */
export async function shop(stage: Stage, index: number): Promise<void> {
  const random = stage.random.fork(`shopper ${index}`);
  const by = stage.newClient(`client ${index + 1}`);
  const merchant = random.pick(stage.merchants);
  const key = random.pick(stage.keys);
  const headers = { 'api-key': key.secret, 'merchant-id': merchant.id, 'content-type': 'application/json' };
  const shopping: Shopping = { stage, by, random, payer: random.pick(stage.payers), merchant, headers };
  await rest(shopping, random.below(OPENING_MS));
  const paymentId = await create(shopping);
  if (paymentId === undefined) return;
  const paying = pay(shopping, paymentId);
  if (random.chance(0.2)) {
    await rest(shopping, random.below(30_000));
    await ask(shopping, paymentId, { method: 'POST', url: `/v1/payments/${paymentId}/cancel` });
  }
  await paying;
  await follow(shopping, paymentId);
}

async function create(shopping: Shopping): Promise<string | undefined> {
  const { stage, by, random, headers } = shopping;
  const referenceId = by.name.replace(' ', '-');
  const lifetimeS = Math.ceil(random.pick([12, 25, 40]) * stage.pace);
  const payload = {
    amount: { unit: 'iso4217/USD', value: String(random.between(100, 5_000)) },
    referenceId,
    expiresAt: Math.floor(stage.scheduler.nowMs() / 1000) + lifetimeS,
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

/** A request about a payment, whose status in the answer is checked. */
async function ask(
  { stage, by, random, headers }: Shopping,
  paymentId: string,
  options: Asking,
): Promise<Answer | undefined> {
  const answer = await request(stage, by, random, { headers, ...options });
  if (answer?.status === 200) await tell(stage, paymentId, answer.body?.status);
  return answer;
}

interface OptionBody {
  readonly id: string;
  readonly amount: { readonly unit: string };
  readonly actions: readonly { readonly type: string; readonly data: { readonly data: string } }[];
}

async function pay(shopping: Shopping, paymentId: string): Promise<void> {
  const { random, payer } = shopping;
  const gateway = `/v1/gateway/payment/${paymentId}`;
  await rest(shopping, random.below(10_000));
  for (let tries = 0; tries < 3; tries += 1) {
    const listed = await ask(shopping, paymentId, {
      method: 'POST',
      url: `${gateway}/options`,
      payload: { accounts: [payer.account] },
    });
    const options: readonly OptionBody[] = listed?.status === 200 ? listed.body.options : [];
    const asset = random.chance(0.15) ? COIN : USDC;
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
  const data = option.actions[0]?.data.data ?? '';
  const [, typed = ''] = JSON.parse(Buffer.from(data, 'hex').toString()).params as string[];
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

/** Asks for the status until it is final, then perhaps for refunds: of parts, and of the rest, perhaps twice at once. */
async function follow(shopping: Shopping, paymentId: string): Promise<void> {
  const { stage, by, random, headers } = shopping;
  const wantsRefund = random.chance(0.5);
  for (let polls = 0; polls < 12; polls += 1) {
    const answer = await ask(shopping, paymentId, { url: `/v1/payments/${paymentId}/status` });
    const status = answer?.body?.status;
    if (answer?.status === 200 && isFinal(status)) {
      if (status === 'succeeded' && wantsRefund) break;
      return;
    }
    await rest(shopping, random.between(2_000, 15_000));
  }
  if (!wantsRefund) return;
  const refund = (payload: object, more: Record<string, string> = {}) =>
    request(stage, by, random, { method: 'POST', url: '/v1/refunds', headers: { ...headers, ...more }, payload });
  const part = (number: number) => {
    const amount = { unit: 'iso4217/USD', value: String(random.between(1, 2_000)) };
    return refund({ paymentId, amount }, { 'idempotency-key': `part-${number}-of-${paymentId}` });
  };
  const whole = () => refund({ paymentId });
  await Promise.all(random.chance(0.5) ? [whole(), whole()] : [part(1), part(2), part(3)]);
  if (random.chance(0.5)) await whole();
}
