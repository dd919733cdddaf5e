import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recordEntries } from '../actions/books/record.ts';
import { type CommandDeps, command } from '../actions/command.ts';
import { putDestinations } from '../actions/parties/destination-rows.ts';
import { issueKey } from '../actions/parties/issue-key.ts';
import { linkUrl, makeLink, type NewLink } from '../actions/people/invite-person.ts';
import { withPersonMac } from '../actions/people/person-rows.ts';
import { onSteadyTime } from '../actions/people/steady-time.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import { assetsOf, type Registry } from '../chains/registry.ts';
import { hashApiKey } from '../domain/api-key.ts';
import { floatAddedEntry, OPERATOR_FLOAT } from '../domain/books.ts';
import { parseAsset } from '../domain/caip.ts';
import { termsOfNew } from '../domain/cooling-off.ts';
import { newId } from '../domain/ids.ts';
import { DEFAULT_PIN } from '../domain/version.ts';
import { changeFloats, listFloats } from '../store/money/floats.ts';
import { findKeyHolders } from '../store/parties/api-keys.ts';
import { listSettlements } from '../store/parties/destinations.ts';
import { findMerchant, insertMerchant } from '../store/parties/merchants.ts';
import { findPartner, insertPartner } from '../store/parties/partners.ts';
import { findWalletApps, insertWalletApp } from '../store/parties/wallet-apps.ts';
import { insertPerson } from '../store/people/people.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { lockName } from '../store/plumbing/locks.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_FIRST_BLOCK, SANDBOX_KEYS, SANDBOX_TOKENS_EACH } from './genesis.ts';
import { SANDBOX_NETWORK as NETWORK } from './sandbox-network.ts';
import { unlessCode } from './whole-file.ts';

/** The contents of `sandbox.json`: everything that the first API call needs. */
export interface Sandbox {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly appId: string;
  /** A one-time link that signs in to the dashboard as the owner of the demo partner. New at every start. */
  readonly dashboardUrl: string;
  /** The networks by CAIP-2 id. */
  readonly chains: Readonly<Record<string, SandboxNetwork>>;
  /** An account with large balances of every asset. */
  readonly payer: { readonly address: string; readonly privateKey: string; readonly accounts: readonly string[] };
}

export interface SandboxNetwork {
  readonly rpcUrl: string;
  /** The CAIP-19 ids of the assets, by symbol. */
  readonly assets: Readonly<Record<string, string>>;
}

/** Fixed ids, so that every node and every start uses the same objects. */
const PARTNER_ID = 'prtn_0000000000000000000000DEM0';
const MERCHANT_ID = 'mrch_0000000000000000000000DEM0';
const APP_ID = 'app_0000000000000000000000DEM0';
const PERSON_ID = 'psn_0000000000000000000000DEM0';
const OWNER = { partnerId: PARTNER_ID, mode: 'test' } as const;
/**
 * The assets that are paid directly to the merchant's account. The other assets, such as USDT, are paid to the intermediate
 * account, so that the demo shows both ways.
 */
const PAID_DIRECTLY = ['USDC', 'EURC'];

/** Creates the demo partner, merchant, wallet app and key if they are missing. */
export async function openSandbox(
  deps: CommandDeps & RowKeyDeps,
  input: { readonly home: string; readonly baseUrl: string; readonly rpcUrl: string },
): Promise<Sandbox> {
  await mkdir(input.home, { recursive: true, mode: 0o700 });
  await createDemo(deps);
  const apiKey = (await knownKey(deps, fileIn(input.home))) ?? (await newKey(deps));
  const assets = Object.fromEntries(assetsOf(deps.registry, NETWORK).map(({ symbol, id }) => [symbol, id]));
  const address = SANDBOX_ACCOUNTS.payer;
  return {
    baseUrl: input.baseUrl,
    apiKey,
    merchantId: MERCHANT_ID,
    appId: APP_ID,
    dashboardUrl: linkUrl(input.baseUrl, await newOwnerLink(deps)),
    chains: { [NETWORK]: { rpcUrl: input.rpcUrl, assets } },
    payer: { address, privateKey: SANDBOX_KEYS.payer, accounts: [`${NETWORK}:${address}`] },
  };
}

/** Writes `sandbox.json`. Called when the sandbox is ready, because programs wait for the file before they use the sandbox. */
export async function announceSandbox(home: string, sandbox: Sandbox): Promise<void> {
  await writePrivate(fileIn(home), `${JSON.stringify(sandbox, null, 2)}\n`);
}

/**
 * The contents of a `sandbox.json` that may be written by hand, for a gateway elsewhere. URL and API key are enough to follow its
 * events.
 */
type AnnouncedSandbox = Pick<Sandbox, 'baseUrl' | 'apiKey'> & Partial<Sandbox>;

/** The sandbox that `npm start` wrote to this folder. */
export async function readSandbox(home: string): Promise<AnnouncedSandbox | undefined> {
  const text = await readFile(fileIn(home), 'utf8').catch(unlessCode('ENOENT'));
  if (text === undefined) return undefined;
  const sandbox = parseLoosely(text) as Partial<Sandbox>;
  const { baseUrl, apiKey } = sandbox;
  return typeof baseUrl === 'string' && typeof apiKey === 'string' ? { ...sandbox, baseUrl, apiKey } : undefined;
}

function fileIn(home: string): string {
  return join(home, 'sandbox.json');
}

function createDemo(deps: CommandDeps & RowKeyDeps): Promise<void> {
  return command(deps, async (tx, now) => {
    await lockName(tx, 'sandbox');
    if ((await findPartner(tx, PARTNER_ID)) === undefined) {
      await insertPartner(tx, {
        id: PARTNER_ID,
        name: 'Demo partner',
        pinnedVersion: DEFAULT_PIN,
        frameOrigins: [],
        createdAt: now,
      });
    }
    if ((await findMerchant(tx, OWNER, MERCHANT_ID)) === undefined) {
      await insertMerchant(tx, {
        ...OWNER,
        id: MERCHANT_ID,
        name: 'Demo shop',
        email: 'shop@example.com',
        status: 'active',
        iconUrl: null,
        createdAt: now,
        updatedAt: now,
      });
    }
    await settleDirectly(deps, tx, now);
    await fillFloats(tx, deps.registry, now);
    if ((await findWalletApps(tx, [APP_ID])).length === 0) {
      await insertWalletApp(tx, { id: APP_ID, mode: 'test', name: 'Demo wallet', iconUrl: null, createdAt: now });
    }
  });
}

/**
 * Creates the owner of the demo partner if missing, and a sign-in link. If the owner was removed, it stays removed, and the link
 * does not work.
 */
function newOwnerLink(deps: CommandDeps & RowKeyDeps): Promise<NewLink> {
  return command(onSteadyTime(deps), async (tx, now) => {
    await lockName(tx, 'sandbox');
    await insertPerson(
      tx,
      withPersonMac(deps, {
        id: PERSON_ID,
        belongsTo: 'partner',
        partnerId: PARTNER_ID,
        merchantId: null,
        mode: null,
        name: 'Demo owner',
        email: 'owner@example.com',
        role: 'owner',
        refundLimits: null,
        version: 1,
        createdAt: now,
        joinedAt: null,
        removedAt: null,
      }),
    );
    return makeLink(tx, deps, { personId: PERSON_ID, now });
  });
}

/** Adds the destinations of the demo merchant if it has none at all, so that a removed destination stays removed. */
async function settleDirectly(deps: CommandDeps & RowKeyDeps, tx: Tx, now: Date): Promise<void> {
  if ((await listSettlements(tx, MERCHANT_ID)).crypto.length > 0) return;
  const settlements = assetsOf(deps.registry, NETWORK).flatMap(({ id, symbol }) => {
    const asset = parseAsset(id);
    if (!asset.ok || !PAID_DIRECTLY.includes(symbol)) return [];
    return {
      id: newId('crypto_', now.getTime(), deps.world.random.bytes(10)),
      merchantId: MERCHANT_ID,
      asset: asset.value.id,
      assetKey: asset.value.key,
      ...termsOfNew(`${NETWORK}:${SANDBOX_ACCOUNTS.merchant}`, undefined, { now, periodMs: 0 }),
      createdAt: now,
    };
  });
  await putDestinations(tx, deps, settlements);
}

/**
 * Fills the floats of the sandbox. The first block of the chain gives the intermediate account a large amount of each token. Half
 * of it becomes the demo merchant's float and half the operator's, so that every refund is covered.
 */
async function fillFloats(tx: Tx, registry: Registry, now: Date): Promise<void> {
  if ((await listFloats(tx, OPERATOR_FLOAT)).length > 0) return;
  const assets = assetsOf(registry, NETWORK).flatMap(({ id, pay }) => (pay === undefined ? [] : [{ asset: id, pay }]));
  const changes = assets.flatMap(({ asset, pay }) =>
    [MERCHANT_ID, OPERATOR_FLOAT].map((owner) => ({
      owner,
      network: NETWORK,
      asset,
      // Native coins are only partly added to the floats, because the rest pays for gas.
      units: pay.method === 'native' ? COIN_FLOAT : SANDBOX_TOKENS_EACH / 2n,
      kind: 'added' as const,
      subject: FIRST_BLOCK.transaction,
      account: SANDBOX_ACCOUNTS.intermediate,
    })),
  );
  await changeFloats(tx, changes, now);
  const entries = changes.map(({ owner, network, asset, units, subject }) => {
    const merchantId = owner === OPERATOR_FLOAT ? null : owner;
    return floatAddedEntry({ network, asset, subject, reference: subject, merchantId }, owner, units, FIRST_BLOCK);
  });
  await recordEntries(tx, entries, now);
}

const COIN_FLOAT = 1_000n * 10n ** 18n;
/** Stands for a transaction hash in the books. There is no single hash, because each token was minted by a transaction of its own. */
const FIRST_BLOCK = { transaction: 'sandbox genesis', block: SANDBOX_FIRST_BLOCK };

/** The API key of the last start, if it is still valid. The database has only its hash, so the key is read from the file. */
async function knownKey({ db, world }: CommandDeps, file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { apiKey } = parseLoosely(text);
  if (typeof apiKey !== 'string') return undefined;
  const [holder] = await findKeyHolders(db.sql, [hashApiKey(apiKey)]);
  const isInForce =
    holder?.partnerId === PARTNER_ID &&
    holder.revokedAt === null &&
    (holder.expiresAt === null || holder.expiresAt.getTime() > world.clock.nowMs());
  return isInForce ? apiKey : undefined;
}

/** The contents of `sandbox.json`, or an empty object if it is not JSON: a truncated or edited file must not prevent the start. */
function parseLoosely(text: string): Partial<Record<keyof Sandbox, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Record<keyof Sandbox, unknown>>;
  } catch {
    return {};
  }
}

async function newKey(deps: CommandDeps & RowKeyDeps): Promise<string> {
  const { secret } = await issueKey(deps, {
    ...OWNER,
    actor: 'sandbox',
    label: 'Sandbox',
    scopes: null,
    merchantIds: null,
    addresses: null,
    expiresAt: null,
  });
  return secret;
}

/** Writes the file atomically, because several nodes may share the folder. Only this user can read it. */
async function writePrivate(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.draft`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}
