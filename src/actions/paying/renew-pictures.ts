import type { Picture } from '../../domain/picture.ts';
import { PictureError } from '../../pictures/picture-error.ts';
import { takePicture } from '../../pictures/take-picture.ts';
import { lockLink, updateLink } from '../../store/payments/payment-links.ts';
import {
  listPictures,
  PICTURE_PLACES,
  type PicturePlace,
  replaceCopiedLogo,
  replaceUploadedLogo,
  type StoredPicture,
} from '../../store/payments/stored-pictures.ts';
import { appendAudit, findAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { logLink } from './links/log-link.ts';

const ACTOR = 'gateway';
const ALL_RENEWED = { action: 'pictures.renewed', subject: 'pictures' } as const;
/** A picture has at most two megabytes. */
const PAGE = 8;

/**
 * The job that writes the pictures of an older version anew, once in the life of a database: that version stored them as they came,
 * with any number of pixels. A picture that is refused is dropped. Each run handles one page and goes on where the last one stopped.
 * A run returns true if there is more. After a crash all is repeated, which changes no picture that is new already.
 */
export function createPictureRenewal(deps: CommandDeps): () => Promise<boolean> {
  const places: PicturePlace[] = [...PICTURE_PLACES];
  let after: string | undefined;
  let seen = 0;
  return async () => {
    const [place] = places;
    if (place === undefined) return false;
    if (seen === 0 && (await findAudit(deps.db.sql, ALL_RENEWED))) {
      places.length = 0;
      return false;
    }
    const page = await listPictures(deps.db.sql, place, { after: after ?? '', limit: PAGE });
    for (const picture of page) await renew(deps, place, picture);
    seen += page.length;
    after = page.at(-1)?.id;
    if (page.length === PAGE) return true;
    places.shift();
    after = undefined;
    if (places.length === 0) await command(deps, (tx, at) => noteRenewed(tx, seen, at));
    return true;
  };
}

async function renew(deps: CommandDeps, place: PicturePlace, stored: StoredPicture): Promise<void> {
  const renewed = await takePicture(stored.bytes).catch((error: unknown) => {
    if (error instanceof PictureError) return { problem: `it ${error.message}` };
    throw error;
  });
  if ('hash' in renewed && renewed.hash === stored.hash) return;
  await command(deps, async (tx, at) => {
    if (!(await replace(tx, { place, stored, renewed, at }))) return;
    const { id: subject, hash: before } = stored;
    const outcome = 'hash' in renewed ? { after: renewed.hash } : { after: null, problem: renewed.problem };
    const detail = { place, before, ...outcome };
    await appendAudit(tx, { at, actor: ACTOR, action: 'picture.renewed', subject, detail });
  });
}

interface Renewal {
  readonly place: PicturePlace;
  readonly stored: StoredPicture;
  readonly renewed: Picture | { readonly problem: string };
  readonly at: Date;
}

/** False if the picture was changed meanwhile. */
async function replace(tx: Tx, { place, stored: { id, hash }, renewed, at }: Renewal): Promise<boolean> {
  if (place === 'copied') return replaceCopiedLogo(tx, { merchantId: id, hash, logo: renewed });
  if (place === 'uploaded') return replaceUploadedLogo(tx, { merchantId: id, hash, logo: renewed });
  const link = await lockLink(tx, id);
  if (link?.pictureHash !== hash) return false;
  const picture = 'hash' in renewed ? renewed : null;
  const changed = { ...link, pictureHash: picture?.hash ?? null };
  await updateLink(tx, { link: changed, picture, at });
  await logLink(tx, changed, { type: 'payment_link.updated', actor: ACTOR, at });
  return true;
}

async function noteRenewed(tx: Tx, pictures: number, at: Date): Promise<void> {
  await lockName(tx, ALL_RENEWED.action);
  if (await findAudit(tx, ALL_RENEWED)) return;
  await appendAudit(tx, { at, actor: ACTOR, ...ALL_RENEWED, detail: { pictures } });
}
