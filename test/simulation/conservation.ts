import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { verifyBooks } from '../../src/actions/books/verify-books.ts';
import type { ChainEvent, Incoming } from '../../src/chains/chain-reader.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { assetsOf, REGISTRY } from '../registry.ts';
import type { Invariant } from './invariant.ts';
import { networkOf, type SimNetwork } from './networks.ts';
import { ROW_KEYS, SUBJECT_KEYS } from './node.ts';
import { type PaidEvent, paidEvents, type Stage } from './stage.ts';

type SweptEvent = Extract<ChainEvent, { readonly type: 'swept' }>;
type NamedPaid = PaidEvent & { readonly id: string | undefined };

/**
 * The promises about all money of a run. Amounts come from the chain alone: transfers, balances and the events of our
 * contracts. The database only says which address, item and order belongs to which payment and merchant.
 */
export const CONSERVATION_INVARIANTS: readonly Invariant[] = [
  {
    name: 'nothing is lost',
    promise: 'All that came to a place of ours in an asset lies there, or has left it by a sweep or an order.',
    when: 'atEnd',
    check: onEachNetwork(findLost),
  },
  {
    name: 'nobody gets what is another’s',
    promise:
      'What left the intermediate account for a merchant came there for it, or from the float of the operator: for each asset.',
    when: 'atEnd',
    check: onEachNetwork(findTaken),
  },
  {
    name: 'money goes to its party',
    promise: 'Every transfer out of the intermediate account goes to an account of the merchant, or of a payer.',
    when: 'atEnd',
    check: onEachNetwork(findMisdirected),
  },
  {
    name: 'lots equal the chain',
    promise: 'The lots of a payment have all that came for it, in each asset, and all of it that reached the account.',
    when: 'atEnd',
    check: onEachNetwork(findUnlisted),
  },
  {
    name: 'the account is owned in full',
    promise:
      'Open lots, floats, unclaimed transfers and orders that have not left are what lies on the account: for each asset.',
    when: 'atEnd',
    check: onEachNetwork(findUnowned),
  },
  {
    name: 'books equal the chain',
    promise: 'The books balance, their hashes are right, and they show every movement of the chain and no other.',
    when: 'atEnd',
    check: async (stage) => {
      const reports = await verifyBooks(stage.sql);
      const [problem] = reports.flatMap(({ problems }) => problems);
      if (problem !== undefined) return problem;
      const keys = { rowKeys: ROW_KEYS, subjectKeys: SUBJECT_KEYS };
      for (const { connected } of stage.networks) {
        const report = await reconcile({ db: { sql: stage.sql }, registry: REGISTRY, ...keys }, connected, { from: 0 });
        const [difference] = report?.differences ?? [];
        if (difference !== undefined) return `${connected.chain.network.chainId}: ${difference.message}`;
      }
      return undefined;
    },
  },
];

/** The chain, with the parties of everything that touches places of ours. */
interface Scene {
  readonly stage: Stage;
  readonly chainId: string;
  readonly intermediate: string;
  readonly tokens: readonly string[];
  readonly incoming: readonly Incoming[];
  readonly swept: readonly SweptEvent[];
  readonly paid: readonly NamedPaid[];
  /** Payments by deposit address. One address belongs to one payment, on all networks. */
  readonly addresses: ReadonlyMap<string, { readonly paymentId: string; readonly commitment: string }>;
  readonly merchants: ReadonlyMap<string, string>;
  readonly balance: (account: string, asset: string) => bigint;
}

function onEachNetwork(find: (scene: Scene) => string | undefined | Promise<string | undefined>): Invariant['check'] {
  return async (stage) => {
    for (const network of stage.networks) {
      const scene = await sceneOf(stage, network);
      const problem = await find(scene);
      if (problem !== undefined) return `${scene.chainId}: ${problem}`;
    }
    return undefined;
  };
}

async function sceneOf(stage: Stage, { connected, control }: SimNetwork): Promise<Scene> {
  const { chain, intermediateAccount: intermediate } = connected;
  const deposits = await stage.sql<{ paymentId: string; commitment: string; address: string }[]>`
    select payment_id as "paymentId", commitment, address from deposits order by number`;
  const payments = await stage.sql<{ id: string; merchantId: string }[]>`
    select id, merchant_id as "merchantId" from payments`;
  const { number } = await chain.reader.head();
  const addresses = new Map(deposits.map(({ address, ...rest }) => [address, rest]));
  const events = await chain.reader.events(0, number);
  return {
    stage,
    chainId: chain.network.chainId,
    intermediate,
    tokens: assetsOf(chain.network.chainId)
      .filter(({ pay }) => pay !== undefined && pay.method !== 'native')
      .map(({ id }) => id),
    incoming: await chain.reader.incoming(new Set([...addresses.keys(), intermediate]), 0, number),
    swept: events.filter((event) => event.type === 'swept'),
    paid: (await paidEvents(chain)).filter(({ asset }) => networkOf(asset) === chain.network.chainId),
    addresses,
    merchants: new Map(payments.map(({ id, merchantId }) => [id, merchantId])),
    balance: control.balanceOf,
  };
}

const sum = (of: readonly { readonly amount: bigint }[]) => of.reduce((total, { amount }) => total + amount, 0n);

function findLost({ tokens, incoming, swept, paid, addresses, intermediate, balance }: Scene): string | undefined {
  for (const asset of tokens) {
    const cameTo = (account: string) => sum(incoming.filter(({ to, asset: sent }) => to === account && sent === asset));
    for (const [address, { commitment }] of addresses) {
      const [came, lies] = [cameTo(address), balance(address, asset)];
      const left = sum(swept.filter((event) => event.commitment === commitment && event.asset === asset));
      if (came !== lies + left) return `${came} of ${asset} came to ${address}, ${lies} lies there, ${left} was swept`;
    }
    const [came, lies] = [cameTo(intermediate), balance(intermediate, asset)];
    const left = sum(sentBy(paid, intermediate, asset));
    if (came !== lies + left)
      return `${came} of ${asset} came to our account, ${lies} lies there, ${left} was ordered away`;
  }
  return undefined;
}

/** Transfers that an account of ours has signed. A look-alike names it without a transfer, and has no id of ours. */
function sentBy(paid: readonly NamedPaid[], account: string, asset: string): readonly NamedPaid[] {
  return paid.filter((event) => event.payer === account && event.asset === asset && isOrder(event));
}

function isOrder({ id }: NamedPaid): boolean {
  return id !== undefined && !id.startsWith('pay_');
}

/** The amounts that reached the intermediate account for each payment, by the chain. */
function reachedFor({ swept, paid, addresses, merchants, intermediate }: Scene, asset: string) {
  const reached = new Map<string, bigint>();
  const add = (paymentId: string, units: bigint) => reached.set(paymentId, (reached.get(paymentId) ?? 0n) + units);
  const byCommitment = new Map([...addresses.values()].map(({ commitment, paymentId }) => [commitment, paymentId]));
  for (const event of swept) {
    const paymentId = byCommitment.get(event.commitment);
    const isThere = event.asset === asset && event.recipient === intermediate;
    if (paymentId !== undefined && isThere) add(paymentId, event.amount - event.fee);
  }
  for (const event of paid) {
    const isThere = event.asset === asset && event.recipient === intermediate && event.payer !== intermediate;
    if (isThere && event.id !== undefined && merchants.has(event.id)) add(event.id, event.amount - event.fee);
  }
  return reached;
}

interface OrderRow {
  readonly id: string;
  readonly merchantId: string | null;
  readonly paymentId: string | null;
  readonly purpose: string;
}

function ordersOf({ stage }: Scene) {
  return stage.sql<OrderRow[]>`
    select o.id, coalesce(p.merchant_id, o.merchant_id) as "merchantId", p.id as "paymentId", o.purpose
    from outgoing o left join strays s on s.id = o.id
    left join payments p on p.id = coalesce(o.payment_id, s.payment_id)`;
}

async function findTaken(scene: Scene): Promise<string | undefined> {
  const { stage, tokens, paid, intermediate, incoming, merchants } = scene;
  const orders = new Map((await ordersOf(scene)).map((order) => [order.id, order]));
  for (const asset of tokens) {
    const saldo = new Map<string, bigint>();
    const add = (owner: string, units: bigint) => saldo.set(owner, (saldo.get(owner) ?? 0n) + units);
    for (const [paymentId, units] of reachedFor(scene, asset)) add(merchants.get(paymentId) ?? '', units);
    for (const { owner, transactionHash } of stage.topUps) {
      const sent = incoming.filter((each) => each.transactionHash === transactionHash && each.asset === asset);
      add(owner, sum(sent.filter(({ to }) => to === intermediate)));
    }
    for (const { id = '', amount } of sentBy(paid, intermediate, asset)) {
      const order = orders.get(id);
      if (order === undefined) return `${id} took ${amount} of ${asset}, and nobody ordered it`;
      // Money that nobody owns goes back to its sender.
      if (order.merchantId !== null) add(order.merchantId, -amount);
    }
    const lent = saldo.get(OPERATOR_FLOAT) ?? 0n;
    const short = [...saldo].filter(([owner, units]) => owner !== OPERATOR_FLOAT && units < 0n);
    const missing = short.reduce((total, [, units]) => total - units, 0n);
    if (missing > lent) return `${short[0]?.[0]} got ${missing} of ${asset} that came for others, and ${lent} was lent`;
  }
  return undefined;
}

async function findMisdirected(scene: Scene): Promise<string | undefined> {
  const { stage, tokens, paid, intermediate } = scene;
  const orders = new Map((await ordersOf(scene)).map((order) => [order.id, order]));
  const payers = new Set([...stage.payers.map(({ address }) => address), ...stage.refundedTo]);
  for (const asset of tokens) {
    for (const { id = '', recipient, payer } of sentBy(paid, intermediate, asset)) {
      const isPayout = orders.get(id)?.purpose === 'payout';
      const isRight = isPayout ? recipient === stage.merchantAccount.address : payers.has(recipient);
      if (!isRight) return `${id} took money of ${payer} to ${recipient}`;
    }
  }
  return undefined;
}

async function findUnlisted(scene: Scene): Promise<string | undefined> {
  const { stage, chainId, tokens, incoming, addresses } = scene;
  const rows = await stage.sql<{ paymentId: string; asset: string; arrived: string; reached: string }[]>`
    select payment_id as "paymentId", asset, coalesce(sum(amount) filter (where address is not null), 0)::text as arrived,
      coalesce(sum(net) filter (where is_held), 0)::text as reached
    from lots where network = ${chainId} group by 1, 2`;
  for (const asset of tokens) {
    const lots = new Map(rows.filter((row) => row.asset === asset).map((row) => [row.paymentId, row]));
    const reached = reachedFor(scene, asset);
    for (const paymentId of scene.merchants.keys()) {
      const own = incoming.filter(
        ({ to, asset: sent }) => sent === asset && addresses.get(to)?.paymentId === paymentId,
      );
      const shown = { arrived: sum(own), reached: reached.get(paymentId) ?? 0n };
      const { arrived = '0', reached: held = '0' } = lots.get(paymentId) ?? {};
      if (BigInt(arrived) !== shown.arrived)
        return `${shown.arrived} of ${asset} came to addresses of ${paymentId}, and its lots have ${arrived}`;
      if (BigInt(held) !== shown.reached)
        return `${shown.reached} of ${asset} reached our account for ${paymentId}, and its lots have ${held}`;
    }
  }
  return undefined;
}

async function findUnowned({ stage, chainId, tokens, intermediate, balance }: Scene): Promise<string | undefined> {
  const rows = await stage.sql<{ asset: string; units: string }[]>`
    select asset, sum(units)::text as units from (
      select l.asset, l.net - coalesce((select sum(s.units) from lot_spends s where s.lot_id = l.id), 0) as units
      from lots l where l.network = ${chainId} and l.is_held
      union all select asset, units from floats where network = ${chainId}
      union all select asset, amount from strays
        where network = ${chainId} and lot_id is null and is_booked and state = 'unclaimed'
          and lower(account) = lower(${intermediate})
      union all select asset, amount from outgoing where network = ${chainId} and state = 'sending' and signer = 'gateway'
      union all select s.asset, s.units from lot_spends s where s.network = ${chainId} and s.purpose <> 'float'
        and not exists (select from outgoing o where o.id = s.order_id)
    ) as owned group by asset`;
  const owned = new Map(rows.map(({ asset, units }) => [asset, BigInt(units)]));
  for (const asset of tokens) {
    const [lies, owed] = [balance(intermediate, asset), owned.get(asset) ?? 0n];
    if (lies !== owed) return `${lies} of ${asset} lies on our account, and ${owed} is owned`;
  }
  return undefined;
}
