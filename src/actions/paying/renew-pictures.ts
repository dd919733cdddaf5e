import { hasPassed } from '../../domain/has-passed.ts';
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
import { type AuditEntry, appendAudit, findAuditAbout } from '../../store/plumbing/audit-log.ts';
import type { Reader, Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { logLink } from './links/log-link.ts';

const ACTOR = 'gateway';
const ALL_RENEWED = { action: 'pictures.renewed', subject: 'pictures' } as const;
/** The number of pictures in a page. Each picture has at most two megabytes. */
const PAGE = 8;
/** All pictures are read twice: until its last node is replaced, the older version may store a picture after the first reading. */
const TIMES = 2;
const PAUSE_MS = 86_400_000;

/**
 * The job that writes the pictures of an older version anew, at the first start and once more a day later: that version stored them as
 * they came, with any number of pixels. A picture that is refused is dropped. Each run handles one page and continues after the page of
 * the previous run. A run returns true if there is more. After a crash the job begins again, which changes no picture that was already
 * written anew.
 */
export function createPictureRenewal(deps: CommandDeps): () => Promise<boolean> {
  let isOver = false;
  let pass: Pass | undefined;
  return async () => {
    if (isOver) return false;
    if (pass === undefined) {
      const now = new Date(deps.world.clock.nowMs());
      const ended = await listEnded(deps.db.sql, now);
      isOver = ended.length >= TIMES;
      const [last] = ended;
      if (isOver || (last !== undefined && !hasPassed(last.at.getTime(), now.getTime(), PAUSE_MS))) return false;
      pass = { number: ended.length, places: [...PICTURE_PLACES], after: '', seen: 0 };
    }
    const { places, after } = pass;
    const [place] = places;
    if (place === undefined) {
      const { number, seen } = pass;
      await command(deps, (tx, at) => noteRenewed(tx, { number, seen, at }));
      pass = undefined;
      return true;
    }
    const page = await listPictures(deps.db.sql, place, { after, limit: PAGE });
    for (const picture of page) await renew(deps, place, picture);
    const isLast = page.length < PAGE;
    pass = {
      ...pass,
      places: isLast ? places.slice(1) : places,
      after: isLast ? '' : (page.at(-1)?.id ?? ''),
      seen: pass.seen + page.length,
    };
    return true;
  };
}

/** The state of one reading of all pictures. */
interface Pass {
  /** The number of readings before this one. */
  readonly number: number;
  readonly places: readonly PicturePlace[];
  readonly after: string;
  readonly seen: number;
}

/** The audit entries of the readings that have ended, the newest first. */
function listEnded(db: Reader, now: Date): Promise<AuditEntry[]> {
  const { action, subject } = ALL_RENEWED;
  // The clock of the node that wrote an entry may be ahead of ours.
  const to = new Date(now.getTime() + PAUSE_MS);
  return findAuditAbout(db, { subjects: [subject], actions: [action], from: new Date(0), to, limit: TIMES });
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

/** Replaces a stored picture. Returns false if somebody has changed the picture meanwhile. */
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

/** Records a finished reading in the audit log, unless another node has recorded it. */
async function noteRenewed(tx: Tx, { number, seen, at }: { number: number; seen: number; at: Date }): Promise<void> {
  await lockName(tx, ALL_RENEWED.action);
  if ((await listEnded(tx, at)).length > number) return;
  await appendAudit(tx, { at, actor: ACTOR, ...ALL_RENEWED, detail: { pictures: seen } });
}
