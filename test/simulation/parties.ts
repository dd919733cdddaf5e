import { privateKeyToAccount } from 'viem/accounts';
import { type CommandDeps, command } from '../../src/actions/command.ts';
import { createPartner } from '../../src/actions/parties/create-partner.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { issueKey } from '../../src/actions/parties/issue-key.ts';
import { registerApp } from '../../src/actions/parties/register-app.ts';
import { setFees } from '../../src/actions/parties/set-fees.ts';
import { type RowKeyDeps, rowKeysOf } from '../../src/actions/row-keys.ts';
import type { MemoryChainControl } from '../../src/chains/memory/control.ts';
import { parseAsset } from '../../src/domain/caip.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { newId } from '../../src/domain/ids.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { insertMerchant } from '../../src/store/parties/merchants.ts';
import type { Database } from '../../src/store/plumbing/database.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { MASTER_SECRET } from './node.ts';
import { openReceivers } from './receivers.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

export const NETWORK = 'eip155:31337';
export const USDC = SANDBOX_ASSETS['eip3009-vrs'];
export const COIN = SANDBOX_ASSETS.native;
/** A token that no payment asks for. */
export const OTHER_TOKEN = SANDBOX_ASSETS.permit2;
/** The key of the account that both merchants are paid to. */
export const MERCHANT_KEY = `0x${'de5'.padStart(64, 'c')}`;
const DESTINATION = privateKeyToAccount(MERCHANT_KEY as `0x${string}`).address;

export interface Payer {
  readonly address: string;
  readonly account: string;
  signTypedData(text: string): Promise<string>;
}

export interface SimMerchant {
  readonly id: string;
  readonly name: string;
}

export function payerOf(control: MemoryChainControl, key: string): Payer {
  const signer = privateKeyToAccount(key as `0x${string}`);
  control.setBalance(signer.address, USDC, 10n ** 12n);
  control.setBalance(signer.address, OTHER_TOKEN, 10n ** 12n);
  control.setBalance(signer.address, COIN, 10n ** 21n);
  return {
    address: signer.address,
    account: `${NETWORK}:${signer.address}`,
    signTypedData: (text) => signer.signTypedData(JSON.parse(text)),
  };
}

/** A partner with two keys, in some runs a fee, and receivers of webhooks, a merchant with a destination, and one whose money is held; and a wallet app. */
export async function openParties(db: Database, scheduler: Scheduler, random: Seeded) {
  const operator: Participant = { name: 'operator', isAlive: true, pausedUntilMs: 0, skewMs: 0 };
  const secrets = createSecrets([MASTER_SECRET]);
  const deps = { db, world: scheduler.worldOf(operator, random), secrets, rowKeys: rowKeysOf(secrets) };
  const partner = await createPartner(deps, { actor: 'operator', name: 'Partner' });
  const limits = { scopes: null, merchantIds: null, addresses: null, expiresAt: null };
  const keys = [];
  for (const label of ['first', 'second']) {
    const issued = await issueKey(deps, { actor: 'operator', partnerId: partner.id, mode: 'test', label, ...limits });
    keys.push({ id: issued.key.id, secret: issued.secret });
  }
  const merchants: SimMerchant[] = [];
  for (const name of ['direct', 'held']) {
    const merchant = {
      id: newId('mrch_', scheduler.nowMs(), random.bytes(10)),
      partnerId: partner.id,
      mode: 'test',
    } as const;
    await command(deps, async (tx, now) => {
      const facts = { name, email: null, status: 'active', iconUrl: null, createdAt: now, updatedAt: now } as const;
      await insertMerchant(tx, { ...merchant, ...facts });
    });
    merchants.push({ id: merchant.id, name });
  }
  await register(deps, merchants[0]?.id ?? '', random);
  if (random.chance(0.5)) {
    const terms = { percentage: '1.5', fixed: [] };
    await setFees(deps, { actor: 'operator', payee: { partnerId: partner.id }, terms, startsAt: undefined });
  }
  const receivers = await openReceivers(deps, { partnerId: partner.id, mode: 'test' }, merchants[0]?.id ?? '');
  const app = await registerApp(deps, { actor: 'operator', mode: 'test', name: 'Wallet', iconUrl: null });
  return { merchants, keys, receivers, appId: app.id };
}

/** Registers the destination of a merchant. */
export async function register(deps: CommandDeps & RowKeyDeps, merchantId: string, random: Seeded): Promise<void> {
  const parsed = parseAsset(USDC);
  if (!parsed.ok) throw new Error(parsed.problem);
  const { key: assetKey } = parsed.value;
  await command(deps, async (tx, now) => {
    const id = newId('crypto_', now.getTime(), random.bytes(10));
    const terms = termsOfNew(`${NETWORK}:${DESTINATION}`, undefined, { now, periodMs: 0 });
    await putDestinations(tx, deps, [{ id, merchantId, asset: USDC, assetKey, ...terms, createdAt: now }]);
  });
}
