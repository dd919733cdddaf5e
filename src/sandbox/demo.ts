import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandDeps, command } from '../actions/command.ts';
import { issueKey } from '../actions/issue-key.ts';
import { hashApiKey } from '../domain/api-key.ts';
import { DEFAULT_PIN } from '../domain/version.ts';
import { findKeyHolders } from '../store/api-keys.ts';
import { lockName } from '../store/locks.ts';
import { findMerchant, insertMerchant } from '../store/merchants.ts';
import { findPartner, insertPartner } from '../store/partners.ts';
import { findWalletApps, insertWalletApp } from '../store/wallet-apps.ts';

/** What a newcomer needs for the first call; also the contents of `sandbox.json`. */
export interface Sandbox {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly appId: string;
}

/** Fixed, so that every node and every start finds the same ones. */
const PARTNER_ID = 'prtn_0000000000000000000000DEM0';
const MERCHANT_ID = 'mrch_0000000000000000000000DEM0';
const APP_ID = 'app_0000000000000000000000DEM0';
const OWNER = { partnerId: PARTNER_ID, mode: 'test' } as const;

/** Makes the demo partner, merchant, wallet app and key where they are missing, and tells other programs of them. */
export async function openSandbox(deps: CommandDeps, input: { home: string; baseUrl: string }): Promise<Sandbox> {
  await mkdir(input.home, { recursive: true, mode: 0o700 });
  await createDemo(deps);
  const file = join(input.home, 'sandbox.json');
  const apiKey = (await knownKey(deps, file)) ?? (await newKey(deps));
  const sandbox = { baseUrl: input.baseUrl, apiKey, merchantId: MERCHANT_ID, appId: APP_ID };
  await writePrivate(file, `${JSON.stringify(sandbox, null, 2)}\n`);
  return sandbox;
}

function createDemo(deps: CommandDeps): Promise<void> {
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
    if ((await findWalletApps(tx, [APP_ID])).length === 0) {
      await insertWalletApp(tx, { id: APP_ID, mode: 'test', name: 'Demo wallet', iconUrl: null, createdAt: now });
    }
  });
}

/** The key of the last start, as long as the database still takes it: only its hash is stored there. */
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

/** A file that was cut short or edited by hand is no reason not to start. */
function parseLoosely(text: string): { apiKey?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as { apiKey?: unknown };
  } catch {
    return {};
  }
}

async function newKey(deps: CommandDeps): Promise<string> {
  const { secret } = await issueKey(deps, {
    ...OWNER,
    actor: 'sandbox',
    label: 'Sandbox',
    scopes: null,
    merchantIds: null,
    expiresAt: null,
  });
  return secret;
}

/** Whole or not at all, and for this user alone from its first byte. */
async function writePrivate(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
}
