import type { AcceptedAssets } from '../../domain/accepted-assets.ts';
import type { Mode } from '../../domain/mode.ts';
import type { PinnableVersion } from '../../domain/version.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface Partner {
  readonly id: string;
  readonly name: string;
  readonly pinnedVersion: PinnableVersion;
  /** The web origins that may show the checkout in a frame. */
  readonly frameOrigins: readonly string[];
  /** For each mode, the assets that may pay the partner's payments. */
  readonly accepted: Readonly<Record<Mode, AcceptedAssets>>;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
}

export async function insertPartner(tx: Tx, partner: Omit<Partner, 'disabledAt' | 'accepted'>): Promise<void> {
  await tx`
    insert into partners (id, name, pinned_version, frame_origins, created_at)
    values (${partner.id}, ${partner.name}, ${partner.pinnedVersion}, ${[...partner.frameOrigins]}, ${partner.createdAt})`;
}

export async function findPartner(db: Reader, id: string): Promise<Partner | undefined> {
  const [row] = await db<Partner[]>`select ${columns(db)} from partners where id = ${id}`;
  return row;
}

/**
 * The assets that a partner accepts in a mode. They cannot change until the database transaction ends, but other transactions can read
 * them.
 */
export async function shareAccepted(
  tx: Tx,
  { partnerId, mode }: { partnerId: string; mode: Mode },
): Promise<AcceptedAssets> {
  const [row] = await tx<{ list: AcceptedAssets }[]>`
    select to_json(case ${mode}::text when 'test' then accepted_test else accepted_live end) as list
    from partners where id = ${partnerId} for share`;
  return row?.list ?? null;
}

/** Locks a partner. The lock does not block inserts of rows that refer to the partner. */
export async function lockPartner(tx: Tx, id: string): Promise<Partner | undefined> {
  const [row] = await tx<Partner[]>`select ${columns(tx)} from partners where id = ${id} for no key update`;
  return row;
}

export function listPartners(db: Reader): Promise<Partner[]> {
  return db<Partner[]>`select ${columns(db)} from partners order by id`;
}

export async function updatePartner(tx: Tx, partner: Partner): Promise<void> {
  await tx`
    update partners
    set name = ${partner.name}, pinned_version = ${partner.pinnedVersion},
        frame_origins = ${[...partner.frameOrigins]}, accepted_test = ${partner.accepted.test as string[] | null},
        accepted_live = ${partner.accepted.live as string[] | null}, disabled_at = ${partner.disabledAt}
    where id = ${partner.id}`;
}

function columns(db: Reader) {
  return db`id, name, pinned_version as "pinnedVersion", to_json(frame_origins) as "frameOrigins",
    json_build_object('test', accepted_test, 'live', accepted_live) as accepted, created_at as "createdAt", disabled_at as "disabledAt"`;
}
