import { join } from 'node:path';
import type { World } from '../runtime/world.ts';
import { sandboxGenesis } from './genesis.ts';
import type { Predeploy } from './local-evm.ts';
import { readIfThere, writeWhole } from './postgres-folder.ts';

/** The genesis of a chain. It is stored with the journal, so that later versions can continue the chain. */
export interface ChainGenesis {
  readonly chainId: number;
  readonly timestampS: number;
  readonly predeploys: readonly Predeploy[];
}

const SANDBOX_CHAIN_ID = 31_337;
const FILE = 'genesis.json';

/** This account has a random balance, which makes the genesis block, and so the identity of each chain, unique. */
const SALT_ADDRESS = '0x00000000000000000000000000000000000005a1';

export function newGenesis({ clock, random }: Pick<World, 'clock' | 'random'>): ChainGenesis {
  const salt = Buffer.from(random.bytes(8)).readBigUInt64BE();
  return {
    chainId: SANDBOX_CHAIN_ID,
    timestampS: Math.floor(clock.nowMs() / 1000),
    predeploys: [...sandboxGenesis(), { address: SALT_ADDRESS, balance: salt }],
  };
}

/** The genesis of this folder's chain, created at the first call. */
export async function keptGenesis(world: Pick<World, 'clock' | 'random'>, dir: string): Promise<ChainGenesis> {
  const file = join(dir, FILE);
  const text = await readIfThere(file);
  if (text !== undefined) return JSON.parse(text, reviveBigInt) as ChainGenesis;
  const genesis = newGenesis(world);
  await writeWhole(file, `${JSON.stringify(genesis, replaceBigInt)}\n`);
  return genesis;
}

/** JSON cannot represent a bigint, so it is written as `{"n":"…"}`. */
const replaceBigInt = (_key: string, value: unknown) => (typeof value === 'bigint' ? { n: value.toString() } : value);
const reviveBigInt = (_key: string, value: unknown) =>
  value !== null && typeof value === 'object' && 'n' in value ? BigInt(value.n as string) : value;
