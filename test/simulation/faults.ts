import { checksumAddress } from '../../src/domain/addresses/eip155.ts';
import type { ItemKey } from '../../src/domain/item.ts';
import { findItems, signedItemOf } from '../../src/store/chain/items.ts';
import { forgedOn, LIAR, LIARS, SINGLE_LIARS } from './liars.ts';
import { MAIL_MOODS } from './mail-server.ts';
import { BLOCK_MS, DEPTH, ENDPOINTS, type SimNetwork } from './networks.ts';
import { MOODS } from './receivers.ts';
import { request } from './requests.ts';
import type { Seeded } from './seeded.ts';
import type { PaidEvent, Stage } from './stage.ts';
import { SINGLE_STRANGERS, STRANGERS } from './strangers.ts';

/** A kind of trouble, brought about once. */
interface Fault {
  readonly label: string;
  readonly cause: (stage: Stage, random: Seeded) => Promise<void> | void;
}

/** A node that runs; mostly the node that is in the middle of some work. */
function liveNode({ nodes, scheduler }: Stage, random: Seeded) {
  const live = nodes.filter((node) => node?.isAlive);
  if (live.length === 0) return undefined;
  const busy = live.find((node) => node === scheduler.lastToAct());
  return busy !== undefined && random.chance(0.7) ? busy : random.pick(live);
}

export const FAULTS: readonly Fault[] = [
  {
    label: 'crash',
    cause: async (stage, random) => {
      const node = liveNode(stage, random);
      if (node !== undefined) await stage.crashNode(node, random.between(500, 15_000));
    },
  },
  {
    // Longer than a lease: its work has another holder when it wakes up.
    label: 'zombie',
    cause: (stage, random) => {
      const node = liveNode(stage, random);
      if (node) node.pausedUntilMs = stage.scheduler.nowMs() + random.between(4_000, 30_000);
    },
  },
  { label: 'database connections cut', cause: (stage, random) => liveNode(stage, random)?.disconnect() },
  {
    label: 'endpoints out of reach',
    cause: (stage, random) => {
      const node = liveNode(stage, random);
      if (!node) return;
      node.isCutOff = true;
      const by = stage.newClient('network');
      stage.scheduler.after(by, random.between(3_000, 30_000), () => {
        node.isCutOff = false;
      });
    },
  },
  {
    label: 'clock skew',
    cause: (stage, random) => {
      const node = liveNode(stage, random);
      if (node) node.skewMs = random.between(-3_000, 3_000);
    },
  },
  {
    // Never as deep as final blocks are: that is a promise of the chain.
    label: 'reorg',
    cause: async ({ control, connected }, random) => {
      const { number } = await connected.chain.reader.head();
      const depth = random.between(1, DEPTH - 1);
      if (number <= depth) return;
      control.reorg(depth, {
        length: depth + random.below(2),
        transactions: random.pick(['kept', 'pending', 'dropped']),
      });
    },
  },
  {
    label: 'broadcast lost',
    cause: ({ control }, random) => control.broadcasts(random.pick(['answer_lost', 'lost', 'forgotten', 'held'])),
  },
  { label: 'held broadcasts appear', cause: ({ control }) => control.releaseBroadcasts() },
  {
    label: 'endpoint lags',
    cause: ({ control }, random) => control.testify(random.below(ENDPOINTS), { headAhead: -random.between(1, 4) }),
  },
  LIARS,
  { label: 'endpoint forges a payment', cause: forge },
  { label: 'endpoints are honest', cause: honest },
  {
    label: 'logs missing',
    cause: (stage, random) => {
      const node = liveNode(stage, random);
      if (node) node.missingLogs = random.between(1, 3);
    },
  },
  {
    label: 'transaction evicted',
    cause: ({ control }, random) => {
      const pending = control.pending();
      if (pending.length > 0) control.evict(random.pick(pending));
    },
  },
  { label: 'gas price rises', cause: ({ control }) => control.spikeGas(2n) },
  { label: 'batch reverts', cause: ({ control }) => control.revertNextBatches() },
  { label: 'receiver misbehaves', cause: upset },
  { label: 'webhooks redelivered', cause: askAgain },
  { label: 'mail server misbehaves', cause: upsetMailServer },
  { label: 'stranger sweeps', cause: sweepAsStranger },
  { label: 'payer cancels', cause: cancelAsPayer },
  { label: 'endpoint forges a transfer', cause: forgeTransfer },
  { label: 'stranger names our account', cause: nameOurAccount },
  STRANGERS,
  {
    // The next node that comes to this line dies there.
    label: 'crash at a point',
    cause: ({ crashPoints, deadlyPoints }, random) => void crashPoints.add(random.pick(deadlyPoints)),
  },
];

/** The faults with these labels. Those of a single act or lie are part of no seed by themselves. */
export function faultsOf(labels: readonly string[]): readonly Fault[] {
  return [...FAULTS, ...SINGLE_LIARS, ...SINGLE_STRANGERS].filter(({ label }) => labels.includes(label));
}

const FORGED_SENDER = checksumAddress('0xf04ed00000000000000000000000000000000f04');

/** The lying endpoint shows the transfer of a payment that nobody has carried out, in a block that everybody has. */
async function forge({ sql, connected, control, forged }: Stage, random: Seeded): Promise<void> {
  const items = await sql<Record<ItemColumn, string>[]>`
    select commitment, seal, collector, payer, asset, amount::text, fee::text, recipient,
      fee_account as "feeAccount", extract(epoch from deadline)::bigint::text as deadline
    from items
    where purpose = 'payment' and state in ('due', 'sent') and network = ${connected.chain.network.chainId}
    order by commitment`;
  if (items.length === 0) return;
  const { seal, amount, fee, feeAccount, deadline, ...item } = random.pick(items);
  const method = connected.chain.payerSide.methodOf(item.asset);
  const { number, hash } = await connected.chain.reader.head();
  const event: PaidEvent = {
    ...item,
    type: 'paid',
    block: { number, hash },
    transactionHash: `0x${Buffer.from(random.bytes(32)).toString('hex')}`,
    logIndex: 0,
    subject: seal,
    amount: BigInt(amount),
    fee: BigInt(fee),
    terms: { method, feeAccount, deadline: BigInt(deadline) },
  };
  forged.push(event);
  control.testify(LIAR, { invented: forgedOn(connected, forged) });
}

/** The lying endpoint shows a transfer to a deposit address that nobody has made. */
async function forgeTransfer({ sql, connected, forgedTransfers }: Stage, random: Seeded): Promise<void> {
  const rows = await sql<{ address: string; asset: string; amount: string }[]>`
    select d.address, d.asset, i.amount::text from deposits d join items i on i.commitment = d.item
    where d.network = ${connected.chain.network.chainId} order by d.number`;
  if (rows.length === 0) return;
  const { address: to, asset, amount } = random.pick(rows);
  const { number, hash } = await connected.chain.reader.head();
  forgedTransfers.push({
    block: { number, hash },
    transactionHash: `0x${Buffer.from(random.bytes(32)).toString('hex')}`,
    logIndex: 0,
    asset,
    from: FORGED_SENDER,
    to,
    amount: BigInt(amount),
  });
}

/** Anybody may sweep a deposit address, at any time. */
async function sweepAsStranger({ sql, control, connected }: Stage, random: Seeded): Promise<void> {
  const rows = await sql<{ key: ItemKey }[]>`
    select item as key from deposits where network = ${connected.chain.network.chainId} order by number`;
  if (rows.length === 0) return;
  const [item] = await findItems(sql, [random.pick(rows).key]);
  if (item === undefined) return;
  control.relayAsStranger([signedItemOf({ ...item, signature: '0x' })]);
}

/** A payer uses up the authorization that the gateway has accepted: by a cancellation, or for another purchase. */
async function cancelAsPayer({ sql, control, connected, scheduler }: Stage, random: Seeded): Promise<void> {
  const rows = await sql<{ key: ItemKey }[]>`
    select commitment as key from items
    where purpose = 'payment' and method like 'eip3009-%' and state in ('due', 'sent')
      and network = ${connected.chain.network.chainId} order by commitment`;
  if (rows.length === 0) return;
  const [item] = await findItems(sql, [random.pick(rows).key]);
  if (item === undefined) return;
  scheduler.note(`the payer of ${item.subject} takes the signature back`);
  const signed = signedItemOf({ ...item, signature: '0x' });
  if (random.chance(0.5)) control.cancelAuthorization(signed.item);
  else control.useAuthorizationElsewhere(signed.item);
}

/** A stranger has the Collector report that our own account has paid them. No token has moved anything. */
async function nameOurAccount({ sql, control, connected, scheduler }: Stage, random: Seeded): Promise<void> {
  const rows = await sql<{ key: ItemKey }[]>`
    select commitment as key from items where purpose = 'payment' and method <> 'native'
      and network = ${connected.chain.network.chainId} order by commitment`;
  if (rows.length === 0) return;
  const [item] = await findItems(sql, [random.pick(rows).key]);
  if (item === undefined) return;
  scheduler.note('a stranger names our account as the payer of a report');
  const { item: named } = signedItemOf({ ...item, signature: '0x' });
  control.emitLookAlike({ ...named, payer: connected.intermediateAccount, amount: named.amount + 1n });
}

function upsetMailServer({ mailServer, scheduler, newClient }: Stage, random: Seeded): void {
  mailServer.mood = random.pick(MAIL_MOODS);
  scheduler.note(`the mail server is ${mailServer.mood}`);
  scheduler.after(newClient('mail server'), random.between(1_000, 60_000), () => {
    mailServer.mood = 'well';
  });
}

function upset({ receivers, scheduler, newClient }: Stage, random: Seeded): void {
  const receiver = random.pick(receivers);
  receiver.mood = random.pick(MOODS);
  scheduler.note(`${receiver.url} is ${receiver.mood}`);
  scheduler.after(newClient('receiver'), random.between(1_000, 30_000), () => {
    receiver.mood = 'well';
  });
}

/** The partner lets all events come to a receiver once more. */
function askAgain(stage: Stage, random: Seeded): void {
  const { endpointId } = random.pick(stage.receivers);
  const headers = { 'api-key': stage.keys[0]?.secret ?? '' };
  const payload = { since: new Date(stage.scheduler.nowMs() - random.below(60_000)).toISOString() };
  const url = `/v1/webhook-endpoints/${endpointId}/redeliver`;
  stage.act(request(stage, stage.newClient('partner'), random, { method: 'POST', url, headers, payload }));
}

type ItemColumn =
  | 'commitment'
  | 'seal'
  | 'collector'
  | 'payer'
  | 'asset'
  | 'amount'
  | 'fee'
  | 'recipient'
  | 'feeAccount'
  | 'deadline';

function honest({ networks, forged, forgedTransfers }: Stage): void {
  forged.length = 0;
  forgedTransfers.length = 0;
  for (const { control } of networks) {
    for (let place = 0; place < ENDPOINTS; place += 1) control.testify(place);
  }
}

/** Mines blocks, at uneven times. */
export async function mine(stage: Stage, { connected, control }: SimNetwork): Promise<never> {
  const random = stage.random.fork(`miner of ${connected.chain.network.chainId}`);
  const by = stage.newClient('miner');
  for (;;) {
    await stage.scheduler.sleep(by, random.between(BLOCK_MS / 2, BLOCK_MS * 1.5));
    control.mine();
  }
}

/** Causes faults until the end. */
export async function trouble(
  stage: Stage,
  { kinds, untilMs, name = 'faults' }: { kinds: readonly Fault[]; untilMs: number; name?: string },
) {
  const random = stage.random.fork(name);
  const by = stage.newClient('fate');
  for (;;) {
    await stage.scheduler.sleep(by, Math.round(random.between(500, 7_000) * stage.pace));
    await stage.scheduler.afterSteps(random.between(1, 60));
    if (stage.scheduler.nowMs() >= untilMs || kinds.length === 0) return;
    const fault = random.pick(kinds);
    stage.fault(fault.label);
    // A fault of a chain happens on one network.
    const there: Stage = Object.assign(Object.create(stage), random.pick(stage.networks));
    await stage.driver.busy(Promise.resolve(fault.cause(there, random)));
  }
}

/** Ends all trouble: nodes run, clocks are right, receivers and the mail server answer, the chain and its endpoints are honest. */
export function heal(stage: Stage): void {
  const { networks, nodes, receivers, scheduler, mailServer, crashPoints } = stage;
  scheduler.note('all faults are over');
  crashPoints.clear();
  honest(stage);
  for (const { control } of networks) {
    control.releaseBroadcasts();
    control.setFees({ base: 1_000_000_000n, tip: 1_000_000_000n });
    control.revertNextBatches(0);
  }
  for (const receiver of receivers) receiver.mood = 'well';
  mailServer.mood = 'well';
  nodes.forEach((node, index) => {
    if (node?.isAlive) Object.assign(node, { pausedUntilMs: 0, skewMs: 0, isCutOff: false, missingLogs: 0 });
    else stage.startNode(index);
  });
}
