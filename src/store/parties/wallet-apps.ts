import type { Mode } from '../../domain/mode.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** A wallet application that the gateway knows by its public `App-Id`. */
export interface WalletApp {
  readonly id: string;
  readonly mode: Mode;
  readonly name: string;
  readonly iconUrl: string | null;
  readonly createdAt: Date;
  readonly removedAt: Date | null;
}

export async function insertWalletApp(tx: Tx, app: Omit<WalletApp, 'removedAt'>): Promise<void> {
  await tx`
    insert into wallet_apps (id, mode, name, icon_url, created_at)
    values (${app.id}, ${app.mode}, ${app.name}, ${app.iconUrl}, ${app.createdAt})`;
}

/** Adds a wallet application. If its row exists, the row is updated, and restored if it was removed. */
export async function ensureWalletApp(tx: Tx, app: Omit<WalletApp, 'removedAt'>): Promise<void> {
  await tx`
    insert into wallet_apps (id, mode, name, icon_url, created_at)
    values (${app.id}, ${app.mode}, ${app.name}, ${app.iconUrl}, ${app.createdAt})
    on conflict (id) do update set name = excluded.name, icon_url = excluded.icon_url, removed_at = null
    where wallet_apps.removed_at is not null or wallet_apps.name <> excluded.name
      or wallet_apps.icon_url is distinct from excluded.icon_url`;
}

export function findWalletApps(db: Reader, ids: readonly string[]): Promise<WalletApp[]> {
  return db<WalletApp[]>`select ${columns(db)} from wallet_apps where id = any(${[...ids]}) and removed_at is null`;
}

export function listWalletApps(db: Reader): Promise<WalletApp[]> {
  return db<WalletApp[]>`select ${columns(db)} from wallet_apps where removed_at is null order by id`;
}

/** Removes a wallet application. Returns false if there is none with this id. */
export async function removeWalletApp(tx: Tx, { id, at }: { id: string; at: Date }): Promise<boolean> {
  const { count } = await tx`update wallet_apps set removed_at = ${at} where id = ${id} and removed_at is null`;
  return count === 1;
}

function columns(db: Reader) {
  return db`id, mode, name, icon_url as "iconUrl", created_at as "createdAt", removed_at as "removedAt"`;
}
