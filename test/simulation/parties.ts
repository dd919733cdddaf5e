import { privateKeyToAccount } from 'viem/accounts';
import { type CommandDeps, command } from '../../src/actions/command.ts';
import { createPartner } from '../../src/actions/parties/create-partner.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { issueKey } from '../../src/actions/parties/issue-key.ts';
import { registerApp } from '../../src/actions/parties/register-app.ts';
import { setFees } from '../../src/actions/parties/set-fees.ts';
import { type RowKeyDeps, rowKeysOf } from '../../src/actions/row-keys.ts';
import { parseAsset } from '../../src/domain/caip.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { newId } from '../../src/domain/ids.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { insertMerchant } from '../../src/store/parties/merchants.ts';
import type { Database } from '../../src/store/plumbing/database.ts';
import { REGISTRY } from '../registry.ts';
import { AUSD, endow, networkOf, SECOND_AUSD, type SimNetwork, USDC, WIDE_USDC } from './networks.ts';
import { MASTER_SECRET } from './node.ts';
import { openReceivers } from './receivers.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** The key of the account that both merchants are paid to. */
export const MERCHANT_KEY = `0x${'de5'.padStart(64, 'c')}`;
/** Only live networks have tokens with other decimals. */
const MODE = 'live';
const DESTINATION = privateKeyToAccount(MERCHANT_KEY as `0x${string}`).address;

export interface Payer {
  readonly address: string;
  /** On every network of the run. */
  readonly accounts: readonly string[];
  signTypedData(text: string): Promise<string>;
}

export interface SimMerchant {
  readonly id: string;
  readonly name: string;
}

export function payerOf(networks: readonly SimNetwork[], key: string): Payer {
  const signer = privateKeyToAccount(key as `0x${string}`);
  for (const network of networks) endow(network, signer.address);
  return {
    address: signer.address,
    accounts: networks.map(({ connected }) => `${connected.chain.network.chainId}:${signer.address}`),
    signTypedData: (text) => signer.signTypedData(JSON.parse(text)),
  };
}

/** A partner with two keys, in some runs a fee, and receivers of webhooks, a merchant with a destination, and one whose money is held; and a wallet app. */
export async function openParties(db: Database, scheduler: Scheduler, random: Seeded) {
  const operator: Participant = { name: 'operator', isAlive: true, pausedUntilMs: 0, skewMs: 0 };
  const secrets = createSecrets([MASTER_SECRET]);
  const deps = {
    registry: REGISTRY,
    db,
    world: scheduler.worldOf(operator, random),
    secrets,
    rowKeys: rowKeysOf(secrets),
  };
  const partner = await createPartner(deps, { actor: 'operator', name: 'Partner' });
  const limits = { scopes: null, merchantIds: null, addresses: null, expiresAt: null };
  const keys = [];
  for (const label of ['first', 'second']) {
    const issued = await issueKey(deps, { actor: 'operator', partnerId: partner.id, mode: MODE, label, ...limits });
    keys.push({ id: issued.key.id, secret: issued.secret });
  }
  const merchants: SimMerchant[] = [];
  for (const name of ['direct', 'held']) {
    const merchant = {
      id: newId('mrch_', scheduler.nowMs(), random.bytes(10)),
      partnerId: partner.id,
      mode: MODE,
    } as const;
    await command(deps, async (tx, now) => {
      const facts = { name, email: null, status: 'active', iconUrl: null, createdAt: now, updatedAt: now } as const;
      await insertMerchant(tx, { ...merchant, ...facts });
    });
    merchants.push({ id: merchant.id, name });
  }
  await register(deps, merchants[0]?.id ?? '', random, DIRECT_ASSETS);
  if (random.chance(0.5)) {
    const terms = { percentage: '1.5', fixed: [] };
    await setFees(deps, { actor: 'operator', payee: { partnerId: partner.id }, terms, startsAt: undefined });
  }
  const receivers = await openReceivers(deps, { partnerId: partner.id, mode: MODE }, merchants[0]?.id ?? '');
  const app = await registerApp(deps, { actor: 'operator', mode: MODE, name: 'Wallet', iconUrl: null });
  return { merchants, keys, receivers, appId: app.id, commandDeps: deps };
}

/** The tokens that the first merchant has destinations for from the beginning: its others are held. */
const DIRECT_ASSETS = [USDC, WIDE_USDC];
const LATER_ASSETS = [AUSD, SECOND_AUSD];

/** Registers destinations of a merchant. */
async function register(
  deps: CommandDeps & RowKeyDeps,
  merchantId: string,
  random: Seeded,
  assets: readonly string[],
): Promise<void> {
  await command(deps, async (tx, now) => {
    const rows = assets.map((asset) => {
      const parsed = parseAsset(asset);
      if (!parsed.ok) throw new Error(parsed.problem);
      const id = newId('crypto_', now.getTime(), random.bytes(10));
      const terms = termsOfNew(`${networkOf(asset)}:${DESTINATION}`, undefined, { now, periodMs: 0 });
      return { id, merchantId, asset, assetKey: parsed.value.key, ...terms, createdAt: now };
    });
    await putDestinations(tx, deps, rows);
  });
}

/** Registers destinations for everything that has none. */
export async function registerHeld(
  deps: CommandDeps & RowKeyDeps,
  [direct, held]: readonly SimMerchant[],
  random: Seeded,
): Promise<void> {
  await register(deps, held?.id ?? '', random, [...DIRECT_ASSETS, ...LATER_ASSETS]);
  await register(deps, direct?.id ?? '', random, LATER_ASSETS);
}
