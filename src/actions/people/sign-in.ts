import { newId } from '../../domain/ids.ts';
import { hashToken, LINK_SESSION_MS, SESSION_MS, secretToken, TOKEN_BYTES } from '../../domain/session.ts';
import { ApiError } from '../../errors.ts';
import { listPasskeys } from '../../store/people/passkeys.ts';
import { findPerson, isWithoutPlace, noteJoined, type StoredPerson } from '../../store/people/people.ts';
import { endSessionRow, insertSession } from '../../store/people/sessions.ts';
import { takeLink } from '../../store/people/sign-in-links.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import type { RowKeyDeps } from '../row-keys.ts';
import { noteShown, type PasskeyDeps, readAnswer, SIGN_IN } from './passkeys.ts';
import { isOwnLink, isOwnPerson, withSessionMac } from './person-rows.ts';
import { onSteadyTime } from './steady-time.ts';
import type { AuthenticationResponseJSON } from './webauthn.ts';

/** The browser that signs in, as stored with the session. */
export interface Browser {
  readonly address: string;
  readonly userAgent: string;
}

/** A new session. Its token is known only now, because the database stores only a hash. */
export interface NewSession {
  readonly token: string;
  readonly expiresAt: Date;
}

export function signInByLink(
  deps: CommandDeps & RowKeyDeps,
  { token, browser }: { readonly token: string; readonly browser: Browser },
): Promise<NewSession> {
  return command(onSteadyTime(deps), async (tx, now) => {
    const link = await takeLink(tx, { hash: hashToken(token), at: now });
    const person = link && isOwnLink(deps, link) ? await findPerson(tx, link.personId) : undefined;
    if (person === undefined) {
      throw new ApiError('unauthorized', 'This link was used before, has expired, or was replaced. Ask for a new one.');
    }
    // A session by link counts as verified only for a person without a passkey, so that the person can add the first passkey.
    const hasPasskey = (await listPasskeys(tx, person.id)).length > 0;
    const verifiedAt = hasPasskey ? NEVER : now;
    return openSession(tx, deps, { person, browser, now, by: 'link', verifiedAt, lifeMs: LINK_SESSION_MS });
  });
}

export async function signInByPasskey(
  deps: PasskeyDeps,
  { response, browser }: { readonly response: AuthenticationResponseJSON; readonly browser: Browser },
): Promise<NewSession> {
  const shown = await readAnswer(deps, SIGN_IN, response);
  if (shown === undefined) throw refusedSignIn();
  return command(onSteadyTime(deps), async (tx, now) => {
    if (!(await noteShown(tx, shown, now))) throw refusedSignIn();
    const person = await findPerson(tx, shown.passkey.personId);
    if (person === undefined) throw refusedSignIn();
    return openSession(tx, deps, { person, browser, now, by: shown.passkey.id, verifiedAt: now, lifeMs: SESSION_MS });
  });
}

/** Ends a session. Every node refuses it within five seconds. */
export function endSession(deps: CommandDeps, input: { readonly actor: string; readonly id: string }): Promise<void> {
  return command(onSteadyTime(deps), async (tx, now) => {
    if (!(await endSessionRow(tx, { id: input.id, at: now }))) return;
    await appendAudit(tx, { at: now, actor: input.actor, action: 'session.ended', subject: input.id, detail: {} });
  });
}

/** The error for every refused sign-in. It does not name the reason, so that a caller without credentials learns nothing. */
function refusedSignIn(): ApiError {
  return new ApiError('unauthorized', 'You cannot sign in with this passkey or link.');
}

interface Opening {
  readonly person: StoredPerson;
  readonly browser: Browser;
  readonly now: Date;
  /** The means of signing in: `link`, or the id of the passkey. */
  readonly by: string;
  readonly verifiedAt: Date;
  readonly lifeMs: number;
}

const NEVER = new Date(0);

async function openSession(
  tx: Tx,
  deps: CommandDeps & RowKeyDeps,
  { person, browser, now, by, verifiedAt, lifeMs }: Opening,
): Promise<NewSession> {
  if (!isOwnPerson(deps, person) || (await isWithoutPlace(tx, person.id))) throw refusedSignIn();
  const token = secretToken(deps.world.random.bytes(TOKEN_BYTES));
  const session = {
    id: newId('ses_', now.getTime(), deps.world.random.bytes(10)),
    personId: person.id,
    hash: hashToken(token),
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifeMs),
    lastUsedAt: now,
    verifiedAt,
    endedAt: null,
    address: browser.address,
    userAgent: browser.userAgent.slice(0, MAX_AGENT_LENGTH),
  };
  await insertSession(tx, withSessionMac(deps, session));
  await noteJoined(tx, { id: person.id, at: now });
  const entry = { actor: `person:${person.id}`, action: 'session.begun', subject: session.id, detail: { by } };
  await appendAudit(tx, { at: now, ...entry, place: person });
  return { token, expiresAt: session.expiresAt };
}

const MAX_AGENT_LENGTH = 300;
