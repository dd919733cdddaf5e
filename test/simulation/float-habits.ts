import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { findAsset } from '../registry.ts';
import { controlOn, networkNamed, networkOf, tokensOn, USDC } from './networks.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import { type Stage, Violation } from './stage.ts';
import { withNode } from './with-node.ts';

const FLOAT_TOKENS = 100n;
const FLOAT_TRIES = 12;
const CLAIMS = 4;

/** Sends tokens to the intermediate account, and credits them as a float as soon as they are final. */
export async function fillFloat(stage: Stage, by: Participant, random: Seeded, owner: string): Promise<void> {
  await stage.scheduler.sleep(by, random.below(60_000));
  const asset = random.chance(0.7) ? USDC : random.pick(tokensOn(stage.networks));
  const { intermediateAccount } = networkNamed(stage, networkOf(asset)).connected;
  const { address: from } = random.pick(stage.payers);
  const units = FLOAT_TOKENS * 10n ** BigInt(findAsset(asset)?.decimals ?? 6);
  const words = [intermediateAccount.slice(2), units.toString(16)];
  const data = `0xa9059cbb${words.map((word) => word.toLowerCase().padStart(64, '0')).join('')}`;
  const to = asset.slice(asset.lastIndexOf(':') + 1);
  const action = { method: 'eth_sendTransaction', params: [{ from, to, data }] } as const;
  const transactionHash = controlOn(stage, asset).send(action);
  stage.topUps.push({ owner, transactionHash });
  let isCredited = false;
  for (let tries = 0; tries < FLOAT_TRIES && !isCredited; tries += 1) {
    await stage.scheduler.sleep(by, random.between(5_000, 20_000));
    await withNode(stage, by, random, `credits the float of ${owner}`, async (deps) => {
      await addFloat(deps, { owner, asset, transactionHash, actor: 'operator' });
      isCredited = true;
    });
  }
  if (!isCredited || random.chance(0.5)) return;
  await claim(stage, { by, random, owner: other(stage, owner), asset, transactionHash });
}

/**
 * A merchant presents as its own top-up what came to the intermediate account for others: sweeps, payments and top-ups. The operator
 * believes it, and the gateway must not.
 */
export async function presentWhatIsOthers(stage: Stage, by: Participant, random: Seeded): Promise<void> {
  for (let claims = 0; claims < CLAIMS; claims += 1) {
    await stage.scheduler.sleep(by, random.between(10_000, 40_000));
    const { chain, intermediateAccount } = random.pick(stage.networks).connected;
    const events = await chain.reader.events(0, (await chain.reader.head()).number);
    const moved = events.filter((event) => event.type === 'paid' || event.type === 'swept');
    const known = moved.filter(({ recipient }) => recipient === intermediateAccount);
    if (known.length === 0) continue;
    const { transactionHash, asset } = random.pick(known);
    if (!(await isOurs(stage, transactionHash))) continue;
    await claim(stage, { by, random, owner: random.pick(stage.merchants).id, asset, transactionHash });
  }
}

/** Money of strangers, who may use the contracts with terms of their own, belongs to nobody. */
async function isOurs({ sql, networks }: Stage, transactionHash: string): Promise<boolean> {
  for (const { connected } of networks) {
    const { number } = await connected.chain.reader.head();
    const events = await connected.chain.reader.events(0, number);
    const own = events.filter((event) => event.transactionHash === transactionHash);
    const rows = await sql`
      select from items where commitment = any(${own.map(({ commitment }) => commitment)}::text[])
      union all select from deposits where commitment = any(${own.map(({ commitment }) => commitment)}::text[])`;
    if (own.length > 0) return rows.length >= own.length;
  }
  return false;
}

interface Claim {
  readonly by: Participant;
  readonly random: Seeded;
  readonly owner: string;
  readonly asset: string;
  readonly transactionHash: string;
}

async function claim(stage: Stage, { by, random, owner, asset, transactionHash }: Claim): Promise<void> {
  await withNode(stage, by, random, `credits ${owner} with the money of others`, async (deps) => {
    const units = await addFloat(deps, { owner, asset, transactionHash, actor: 'operator' });
    const problem = `${owner} was credited with ${units} of ${asset} that ${transactionHash} brought for others`;
    stage.violations.push(new Violation('nobody gets what is another’s', problem));
  });
}

function other({ merchants }: Stage, owner: string): string {
  return merchants.find(({ id }) => id !== owner)?.id ?? '';
}
