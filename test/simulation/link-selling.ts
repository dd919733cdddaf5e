import { request } from './requests.ts';
import { ask, openShopping, rest, type Shopping } from './shopping.ts';
import { Violation } from './stage.ts';

type Pay = (shopping: Shopping, paymentId: string) => Promise<void>;

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * A shop that sells one or two pieces by a link, and payers who want more than there are. Some of them never pay. Some links
 * have a rush: their buyers order and sign in the same moments.
 */
export async function sellByLink(shopping: Shopping, pay: Pay): Promise<void> {
  const { random, stage, by } = shopping;
  const link = await createLink(shopping);
  if (link === undefined) return;
  const buyers = link.stock + random.between(1, 2);
  const isInRush = random.fork('rush').chance(0.3);
  for (let number = 1; number <= buyers; number += 1) {
    stage.act(buy({ ...openShopping(stage, `${by.name} buyer ${number}`), isInRush }, shopping, link.id, pay));
  }
  if (random.chance(0.3)) {
    await rest(shopping, random.below(20_000));
    const url = `/v1/payment-links/${link.id}`;
    const payload = random.pick([{ stock: link.stock + 1 }, { status: 'inactive' }, { description: 'The last one' }]);
    await request(stage, by, random, { method: 'PATCH', url, headers: shopping.headers, payload });
  }
}

async function createLink(shopping: Shopping): Promise<{ readonly id: string; readonly stock: number } | undefined> {
  const { random, stage, by, headers } = shopping;
  const stock = random.pick([1, 1, 2]);
  const amount = { unit: 'iso4217/USD', value: String(random.between(100, 3_000)) };
  const payload = { description: 'A piece', amount, stock };
  const key = { 'idempotency-key': `link-of-${by.name.replaceAll(' ', '-')}` };
  for (let tries = 0; tries < 4; tries += 1) {
    const options = { method: 'POST', url: '/v1/payment-links', headers: { ...headers, ...key }, payload } as const;
    const answer = await request(stage, by, random, options);
    if (answer?.status === 201) return { id: String(answer.body.paymentLink.id), stock };
    await rest(shopping, 1_000);
  }
  return undefined;
}

/** Orders with the form of the page, perhaps twice with one form, then pays, or lets the shop cancel. */
async function buy(buyer: Shopping, seller: Shopping, linkId: string, pay: Pay): Promise<void> {
  const { random, stage } = buyer;
  await rest(buyer, random.below(10_000));
  const once = Buffer.from(random.bytes(16)).toString('base64url');
  const order = async () => {
    const url = `/l/${linkId.slice('plk_'.length)}`;
    const answer = await request(stage, buyer.by, random, {
      method: 'POST',
      url,
      headers: FORM,
      payload: `once=${once}`,
    });
    return /pid=(pay_\w+)/.exec(String(answer?.headers.location))?.[1];
  };
  const ids = new Set<string>();
  for (let tries = 0; tries < 3 && ids.size === 0; tries += 1) {
    const answers = await Promise.all(random.chance(0.3) ? [order(), order()] : [order()]);
    for (const id of answers) if (id !== undefined) ids.add(id);
    await rest(buyer, 1_000);
  }
  const [paymentId] = ids;
  if (paymentId === undefined) return;
  if (ids.size > 1) throw new Violation('one payment per key', `one form was answered ${[...ids].join(' and ')}`);
  const paying = { ...seller, by: buyer.by, random, payer: buyer.payer, isInRush: buyer.isInRush };
  if (random.chance(0.8)) await pay(paying, paymentId);
  // A payment of a link lasts a quarter of an hour. Most of those that nobody pays are cancelled before.
  if (random.chance(0.9)) {
    await rest(buyer, random.below(10_000));
    await ask(paying, paymentId, { method: 'POST', url: `/v1/payments/${paymentId}/cancel` });
  }
}
