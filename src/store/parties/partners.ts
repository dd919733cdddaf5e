import type { PinnableVersion } from '../../domain/version.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

export interface Partner {
  readonly id: string;
  readonly name: string;
  readonly pinnedVersion: PinnableVersion;
  /** Origins that may show the checkout in a frame. */
  readonly frameOrigins: readonly string[];
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
}

export async function insertPartner(tx: Tx, partner: Omit<Partner, 'disabledAt'>): Promise<void> {
  await tx`
    insert into partners (id, name, pinned_version, frame_origins, created_at)
    values (${partner.id}, ${partner.name}, ${partner.pinnedVersion}, ${[...partner.frameOrigins]}, ${partner.createdAt})`;
}

export async function findPartner(db: Reader, id: string): Promise<Partner | undefined> {
  const [row] = await db<Partner[]>`select ${columns(db)} from partners where id = ${id}`;
  return row;
}

export async function lockPartner(tx: Tx, id: string): Promise<Partner | undefined> {
  const [row] = await tx<Partner[]>`select ${columns(tx)} from partners where id = ${id} for update`;
  return row;
}

export function listPartners(db: Reader): Promise<Partner[]> {
  return db<Partner[]>`select ${columns(db)} from partners order by id`;
}

export async function updatePartner(tx: Tx, partner: Partner): Promise<void> {
  await tx`
    update partners
    set name = ${partner.name}, pinned_version = ${partner.pinnedVersion},
        frame_origins = ${[...partner.frameOrigins]}, disabled_at = ${partner.disabledAt}
    where id = ${partner.id}`;
}

function columns(db: Reader) {
  return db`id, name, pinned_version as "pinnedVersion", to_json(frame_origins) as "frameOrigins",
    created_at as "createdAt", disabled_at as "disabledAt"`;
}
