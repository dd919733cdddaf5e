import { privateKeyToAccount } from 'viem/accounts';
import type { OPEN_ROUTES, OTHER_ACTS } from '../../scripts/security-tables.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import type { Item, ItemKey } from '../../src/domain/item.ts';
import { findItems, itemOf, signedItemOf } from '../../src/store/chain/items.ts';
import { type Answer, type Asking, request } from './requests.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import { type Stage, Violation } from './stage.ts';

/** A stranger in front of a payment of somebody else, with the accounts of a payer. */
interface Strange {
  readonly stage: Stage;
  readonly random: Seeded;
  readonly by: Participant;
  readonly paymentId: string;
  readonly accounts: readonly string[];
}

type Act = (strange: Strange) => unknown;
type ActName = keyof typeof OPEN_ROUTES | keyof typeof OTHER_ACTS;

const STRANGER_KEY = `0x${'57'.repeat(32)}` as const;
/** A token that the stranger has deployed. */
const OWN_TOKEN = '0xfa4e70c3000000000000000000000000fa4e70c3';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const DUST = 3n;

/** Every row of the table "What anybody may do", or the file whose clients do it. The type compares the two. */
const STRANGE_ACTS: Readonly<Record<ActName, Act | `${string}.ts`>> = {
  'GET /health': (strange) => ask(strange, { url: '/health' }),
  'GET /versions': (strange) => ask(strange, { url: '/versions' }),
  'GET /ready': (strange) => ask(strange, { url: '/ready' }),
  'GET /.well-known/till-receipts.json': (strange) => ask(strange, { url: '/.well-known/till-receipts.json' }),
  'POST /v1/sessions/challenge': (strange) => post(strange, '/v1/sessions/challenge', {}),
  'POST /v1/sessions': (strange) => post(strange, '/v1/sessions', { link: 'made-up' }),
  'GET /v1/gateway/payment/{id}': (strange) => ask(strange, { url: pathOf(strange) }),
  'GET /v1/gateway/payment/{id}/status': (strange) =>
    ask(strange, { url: `${pathOf(strange)}/status${strange.random.chance(0.5) ? '?maxPollMs=8000' : ''}` }),
  'POST /v1/gateway/payment/{id}/cancel': (strange) => post(strange, `${pathOf(strange)}/cancel`, {}),
  'POST /v1/gateway/payment/{id}/options': (strange) => options(strange),
  'POST /v1/gateway/payment/{id}/fetch': fetchActions,
  'POST /v1/gateway/payment/{id}/confirm': confirmFalsely,
  'POST /v1/gateway/payment/{id}/address': openAddress,
  'GET /v1/gateway/refund/{id}': (strange) => ask(strange, { url: refundPath(strange) }),
  'POST /v1/gateway/refund/{id}/actions': (strange) => post(strange, `${refundPath(strange)}/actions`, {}),
  'POST /v1/gateway/refund/{id}/confirm': (strange) =>
    post(strange, `${refundPath(strange)}/confirm`, { result: FALSE_SIGNATURE }),
  'POST /v1/gateway/payment/{id}/receipt-email': mailReceipt,
  'GET /x402/{id}': (strange) => ask(strange, { url: `/x402/${strange.paymentId}` }),
  'an order at a payment link': orderAtLink,
  'dust to a deposit address': sendDust,
  'an address opened beside an attempt, and dust to it': async (strange) => {
    await openAddress(strange);
    await sendDust(strange);
  },
  'a used nonce as an authorization of x402': 'x402-paying.ts',
  'a signature by another key, in the name of an account with code': confirmFalsely,
  'an authorization of somebody else, presented to the token or the contract': 'x402-paying.ts',
  'a call of the Collector with an item of one’s own, or with a subject of somebody else': callCollector,
  'a call of the Collector with an item of a payer, and a signature that is made up': relayFalsely,
  'a call of a token that moves nothing from an account of ours, or of a payer': moveNothing,
  // It reverts: Permit2 takes the signature from its spender alone, which is the Collector.
  'a call of a token or of Permit2 with the signature of a payer for the Collector': relayFalsely,
  'a sweep of a deposit address': sweep,
  'actions of a cancelled payment, by the hundred': async (strange) => {
    for (let times = 0; times < 4; times += 1) await fetchActions(strange);
    await post(strange, `${pathOf(strange)}/cancel`, {});
  },
};

const FALSE_SIGNATURE = `0x${'ab'.repeat(64)}1b`;

/** The acts as faults: all of them as one kind, and each for itself. */
export const STRANGERS = {
  label: 'stranger acts',
  cause: (stage: Stage, random: Seeded) => perform(stage, random, random.pick(Object.keys(STRANGE_ACTS) as ActName[])),
};
export const SINGLE_STRANGERS = (Object.keys(STRANGE_ACTS) as ActName[]).map((name) => ({
  label: `stranger: ${name}`,
  cause: (stage: Stage, random: Seeded) => perform(stage, random, name),
}));

async function perform(stage: Stage, random: Seeded, name: ActName): Promise<void> {
  const act = STRANGE_ACTS[name];
  if (typeof act === 'string') return;
  const rows = await stage.sql<{ id: string }[]>`select id from payments order by created_at, id`;
  if (rows.length === 0) return;
  const strange: Strange = {
    stage,
    random: random.fork(`${name} ${stage.scheduler.steps()}`),
    by: stage.newClient('stranger'),
    paymentId: random.pick(rows).id,
    accounts: random.pick(stage.payers).accounts,
  };
  stage.scheduler.note(`a stranger: ${name}`);
  // Requests wait for steps of the run, and a fault does not.
  stage.act(Promise.resolve(act(strange)));
}

const pathOf = ({ paymentId }: Strange) => `/v1/gateway/payment/${paymentId}`;

/** The path by the id of a refund, or by a made-up secret: neither is the secret of its link. */
function refundPath({ paymentId, random }: Strange): string {
  const madeUp = Buffer.from(random.bytes(24)).toString('base64url');
  return `/v1/gateway/refund/${random.chance(0.5) ? refundIdOf(paymentId, 1) : madeUp}`;
}

async function ask({ stage, by, random }: Strange, options: Asking): Promise<Answer | undefined> {
  const headers = { 'app-id': stage.appId, 'client-id': 'stranger' };
  return request(stage, by, random, { headers, ...options });
}

function post(strange: Strange, url: string, payload: object): Promise<Answer | undefined> {
  return ask(strange, { method: 'POST', url, payload });
}

interface Option {
  readonly id: string;
  readonly amount: { readonly unit: string };
  readonly actions: readonly { readonly data: { readonly data: string } }[];
}

async function options(strange: Strange): Promise<readonly Option[]> {
  const answer = await post(strange, `${pathOf(strange)}/options`, { accounts: strange.accounts });
  return answer?.status === 200 ? answer.body.options : [];
}

/** Fetches the transaction of an option in coin, in the name of a payer. */
async function fetchActions(strange: Strange): Promise<void> {
  const option = (await options(strange)).find(({ amount }) => amount.unit.includes('/slip44:'));
  if (option === undefined) return;
  await post(strange, `${pathOf(strange)}/fetch`, { optionId: option.id, data: option.actions[0]?.data.data ?? '' });
}

/** A signature of nobody is never accepted. */
async function confirmFalsely(strange: Strange): Promise<void> {
  const option = (await options(strange)).find(({ amount }) => amount.unit.includes('/erc20:'));
  if (option === undefined) return;
  const answer = await post(strange, `${pathOf(strange)}/confirm`, {
    optionId: option.id,
    results: [{ type: 'walletRpc', data: [FALSE_SIGNATURE] }],
  });
  const items = await strange.stage.sql`select from items where signature = ${FALSE_SIGNATURE}`;
  if (items.length > 0) throw new Violation('cheats are refused', `${strange.paymentId}: ${answer?.status}`);
}

async function openAddress(strange: Strange): Promise<void> {
  await post(strange, `${pathOf(strange)}/address`, { asset: strange.random.pick(tokensOf(strange)) });
}

async function mailReceipt(strange: Strange): Promise<void> {
  const email = 'stranger@elsewhere.example';
  const answer = await post(strange, `${pathOf(strange)}/receipt-email`, { email });
  if (answer?.status === 202) strange.stage.receipts.push({ paymentId: strange.paymentId, recipient: email });
}

/** An order that nobody pays. Most are cancelled: a payment of a link lasts a quarter of an hour. */
async function orderAtLink(strange: Strange): Promise<void> {
  const { stage, random } = strange;
  const rows = await stage.sql<{ id: string }[]>`select id from payment_links order by created_at, id`;
  if (rows.length === 0) return;
  const once = Buffer.from(random.bytes(16)).toString('base64url');
  const url = `/l/${random.pick(rows).id.slice('plk_'.length)}`;
  const answer = await ask(strange, { method: 'POST', url, headers: FORM, payload: `once=${once}` });
  const paymentId = /pid=(pay_\w+)/.exec(String(answer?.headers.location))?.[1];
  if (paymentId !== undefined) await post(strange, `/v1/gateway/payment/${paymentId}/cancel`, {});
}

function tokensOf({ stage: { connected } }: Strange): readonly string[] {
  return connected.payable().filter((asset) => asset.includes('/erc20:'));
}

async function depositsOf({ stage: { sql, connected } }: Strange) {
  return sql<{ address: string; asset: string; item: ItemKey }[]>`
    select address, asset, item from deposits
    where network = ${connected.chain.network.chainId} and item is not null order by number`;
}

/** Some units of the asked token, and nothing at all of it. */
async function sendDust(strange: Strange): Promise<void> {
  const { stage, random } = strange;
  const rows = await depositsOf(strange);
  if (rows.length === 0) return;
  const { address, asset } = random.pick(rows);
  const { address: from } = random.pick(stage.payers);
  const units = random.pick([0n, 1n, DUST]);
  const words = [address.slice(2), units.toString(16)].map((word) => word.toLowerCase().padStart(64, '0'));
  const to = asset.slice(asset.lastIndexOf(':') + 1);
  const call = { from, to, data: `0xa9059cbb${words.join('')}` };
  stage.control.send({ method: 'eth_sendTransaction', params: [call] });
}

async function sweep(strange: Strange): Promise<void> {
  const { stage, random } = strange;
  const rows = await depositsOf(strange);
  if (rows.length === 0) return;
  const [item] = await findItems(stage.sql, [random.pick(rows).item]);
  if (item !== undefined) stage.control.relayAsStranger([signedItemOf({ ...item, signature: '0x' })]);
}

/** An item that a payer was asked to sign. */
async function findSigned({ stage, random }: Strange): Promise<Item | undefined> {
  const rows = await stage.sql<{ key: ItemKey }[]>`
    select commitment as key from items where purpose = 'payment' and method <> 'native' and method not like 'deposit%'
      and network = ${stage.connected.chain.network.chainId} order by commitment`;
  if (rows.length === 0) return undefined;
  const [item] = await findItems(stage.sql, [random.pick(rows).key]);
  return item && itemOf(item);
}

/**
 * The Collector is called with the subject of another payment: in a token of the stranger's own, with nothing, in the name of
 * our account, and with an item that really pays one unit to the merchant, or to our account.
 */
async function callCollector(strange: Strange): Promise<void> {
  const { stage, random } = strange;
  const item = await findSigned(strange);
  if (item === undefined) return;
  const { control, connected } = stage;
  const commitment = `0x${Buffer.from(random.bytes(32)).toString('hex')}`;
  const ours = random.pick([connected.intermediateAccount, ...connected.relayers.map(({ address }) => address)]);
  const payer = random.pick([ours, item.payer]);
  const asset = `${item.network}/erc20:${OWN_TOKEN}`;
  const ways = [
    () => control.emitLookAlike({ ...item, asset, payer }, commitment),
    () => control.emitLookAlike({ ...item, payer, amount: 0n, fee: 0n }, commitment),
    () => control.emitLookAlike({ ...item, payer, amount: item.amount + 1n }),
    () => payOneUnit(strange, item),
  ];
  await random.pick(ways)();
}

/** An item of the stranger's own that is carried out, with the subject and the recipient of another one. */
async function payOneUnit({ stage, random }: Strange, like: Item): Promise<void> {
  const { control, connected } = stage;
  const signer = privateKeyToAccount(STRANGER_KEY);
  control.setBalance(signer.address, like.asset, 10n);
  const recipient = random.pick([like.recipient, connected.intermediateAccount]);
  const item = { ...like, payer: signer.address, amount: 1n, fee: 0n, recipient };
  const typed = String(connected.chain.payerSide.walletActions(item, 2n ** 255n).at(-1)?.params[1]);
  const signature = await stage.driver.busy(signer.signTypedData(JSON.parse(typed)));
  const commitment = connected.chain.payerSide.commitmentOf(item);
  control.relayAsStranger([{ item, commitment, signature, hasCode: false }]);
}

/** An item that a payer has signed, with the signature of nobody. */
async function relayFalsely(strange: Strange): Promise<void> {
  const item = await findSigned(strange);
  if (item === undefined) return;
  const { control, connected } = strange.stage;
  const commitment = connected.chain.payerSide.commitmentOf(item);
  control.relayAsStranger([{ item, commitment, signature: FALSE_SIGNATURE, hasCode: false }]);
}

/** A token lets anybody move nothing from anybody: from our accounts, from addresses and to them. */
async function moveNothing(strange: Strange): Promise<void> {
  const { stage, random } = strange;
  const { connected, control, payers } = stage;
  const rows = await depositsOf(strange);
  const places = [
    connected.intermediateAccount,
    ...connected.relayers.map(({ address }) => address),
    ...rows.map(({ address }) => address),
    random.pick(payers).address,
  ];
  control.transferNothing(random.pick(tokensOf(strange)), random.pick(places), random.pick(places));
}
