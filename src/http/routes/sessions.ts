import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { registerOptions, signInOptions, verifyOptions, verifySession } from '../../actions/people/passkeys.ts';
import { endSession, type NewSession, signInByLink, signInByPasskey } from '../../actions/people/sign-in.ts';
import { MODES } from '../../domain/mode.ts';
import { hashToken, isSessionOver, VERIFIED_MS } from '../../domain/session.ts';
import { ApiError } from '../../errors.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import { findMerchantOfAnyPartner } from '../../store/parties/merchants.ts';
import { findPartner } from '../../store/parties/partners.ts';
import { listPasskeys } from '../../store/people/passkeys.ts';
import { findPerson } from '../../store/people/people.ts';
import { findSession, listSessions, type Session, type SessionHolder } from '../../store/people/sessions.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, checkPasskey, onBehalfOf, sessionOf } from '../entry/caller.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { addressGroup } from '../entry/rate-limit.ts';
import { clearCookie, setCookie } from '../entry/session-cookie.ts';
import { deletedBody, enumOf, namedEnum, nullable, Timestamp } from '../schemas.ts';
import { PersonBody, SessionBody, viewPerson, viewSession } from '../views/person.ts';
import { PasskeyOptions, SignedAnswer } from './passkey-schemas.ts';
import { isSeenBy } from './people.ts';

const VISITOR = { scheme: 'visitor', scope: 'self' } as const;
const SELF = { scheme: 'person', scope: 'self' } as const;
const MAX_LISTED = 100;

export async function sessionRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.post('/v1/sessions/challenge', { schema: CHALLENGE, config: { access: VISITOR } }, async () => ({
    options: await signInOptions(deps),
  }));

  app.post('/v1/sessions', { schema: SIGN_IN, config: { access: VISITOR } }, async (request, reply) => {
    const { link, passkey } = request.body;
    const browser = { address: request.ip, userAgent: request.headers['user-agent'] ?? '' };
    const names = [addressGroup(request.ip), ...(passkey === undefined ? [] : [`passkey:${passkey.id}`])];
    const session = await counted(deps, names, () => {
      if (passkey !== undefined) return signInByPasskey(onBehalfOf(request, deps), { response: passkey, browser });
      return signInByLink(onBehalfOf(request, deps), { token: link ?? '', browser });
    });
    return sendSession(deps, reply, session);
  });

  app.get(
    '/v1/sessions',
    { schema: LIST, config: { access: SELF, errors: ['invalid_params'] } },
    async (request, reply) => {
      const current = sessionOf(request);
      const personId = await personAsked(deps, request);
      const sessions = await deps.lists.read(callerRights(request).id, reply, (db) =>
        listSessions(db, personId, MAX_LISTED),
      );
      const nowMs = unshifted(deps.world.clock).nowMs();
      const open = sessions.filter((session) => !isSessionOver(session, nowMs));
      return { sessions: open.map((session) => viewSession(session, current.id)) };
    },
  );

  app.get('/v1/sessions/current', { schema: CURRENT, config: { access: SELF } }, async (request) =>
    viewCurrent(deps, request),
  );

  app.post('/v1/sessions/current/challenge', { schema: OWN_CHALLENGE, config: { access: SELF } }, async (request) => {
    const make = request.body.purpose === 'register' ? registerOptions : verifyOptions;
    return { options: await make(deps, sessionOf(request)) };
  });

  app.post('/v1/sessions/current/verify', { schema: VERIFY, config: { access: SELF } }, async (request) => {
    const session = sessionOf(request);
    const { passkey: response } = request.body;
    const input = { actor: actorOf(request), response };
    await counted(deps, [addressGroup(request.ip), `session:${session.id}`], () =>
      verifySession(onBehalfOf(request, deps), session, input),
    );
    deps.sessions.forget(session.hash);
    return { verifiedUntil: new Date(unshifted(deps.world.clock).nowMs() + VERIFIED_MS).toISOString() };
  });

  app.delete('/v1/sessions/current', { schema: SIGN_OUT, config: { access: SELF } }, async (request, reply) => {
    clearCookie(reply, deps.config.publicUrl);
    return end(deps, request, sessionOf(request));
  });

  app.delete('/v1/sessions/:id', { schema: END, config: { access: SELF } }, async (request) =>
    end(deps, request, await findSeenSession(deps, request, request.params.id)),
  );
}

async function end(deps: HttpDeps, request: FastifyRequest, { id, hash }: Pick<SessionHolder, 'id' | 'hash'>) {
  await endSession(onBehalfOf(request, deps), { actor: actorOf(request), id });
  deps.sessions.forget(hash);
  return { id, deleted: true as const };
}

/** Runs a check of credentials. A failure counts against the names: the address, and the named passkey or session. */
function counted<T>({ signInFailures }: HttpDeps, names: readonly string[], work: () => Promise<T>): Promise<T> {
  return signInFailures.run(names, work, (outcome) => 'error' in outcome && outcome.error instanceof ApiError);
}

async function sendSession(deps: HttpDeps, reply: FastifyReply, session: NewSession) {
  const holder = await deps.sessions.get(hashToken(session.token));
  if (holder === undefined) throw new ApiError('unauthorized', 'The session could not be opened. Try again.');
  setCookie(reply, deps.config.publicUrl, session, unshifted(deps.world.clock).nowMs());
  return reply.code(201).send({ session: viewSession(holder, holder.id), person: viewPerson(holder.person) });
}

/** The person whose sessions are requested: the caller, or a person whom the caller manages. */
async function personAsked(deps: HttpDeps, request: FastifyRequest): Promise<string> {
  const own = sessionOf(request).personId;
  const { personId = own } = request.query as { personId?: string };
  if (personId !== own) await checkManages(deps, request, personId);
  return personId;
}

async function findSeenSession(deps: HttpDeps, request: FastifyRequest, id: string) {
  const session = isPlausibleId(id) ? await findSession(deps.db.sql, id) : undefined;
  if (session === undefined) throw sessionNotFound();
  if (session.personId !== sessionOf(request).personId) {
    await checkManages(deps, request, session.personId);
    checkPasskey(request, deps);
  }
  return session;
}

async function checkManages(deps: HttpDeps, request: FastifyRequest, personId: string): Promise<void> {
  const mayManage = callerRights(request).scopes?.includes('people:write') ?? false;
  const person = mayManage && isPlausibleId(personId) ? await findPerson(deps.db.sql, personId) : undefined;
  if (person === undefined || !isSeenBy(request)(person)) throw sessionNotFound();
}

function sessionNotFound(): ApiError {
  return new ApiError('invalid_params', 'There is no such session.', { status: 404 });
}

async function viewCurrent(deps: HttpDeps, request: FastifyRequest) {
  const session = sessionOf(request);
  const { person } = session;
  const { sql } = deps.db;
  const { scopes, partnerId } = callerRights(request);
  const partner = partnerId === '' ? undefined : await findPartner(sql, partnerId);
  const merchant = person.merchantId === null ? undefined : await findMerchantOfAnyPartner(sql, person.merchantId);
  const passkeys = await listPasskeys(sql, person.id);
  return {
    session: viewSession(session satisfies Session, session.id),
    person: viewPerson(person),
    rights: [...(scopes ?? [])],
    partner: partner === undefined ? null : { id: partner.id, name: partner.name },
    merchant: merchant === undefined ? null : { id: merchant.id, name: merchant.name },
    modes: person.mode === null ? (deps.sandbox === undefined ? [...MODES] : ['test' as const]) : [person.mode],
    passkeys: passkeys.length,
    verifiedUntil: new Date(session.verifiedAt.getTime() + VERIFIED_MS).toISOString(),
  };
}

const TAGS = ['People'];

const CHALLENGE = {
  tags: TAGS,
  operationId: 'createSignInChallenge',
  summary: 'Begin to sign in with a passkey',
  description: 'The options of `navigator.credentials.get`. They are good for 5 minutes, and for one sign-in.',
  response: { 200: Type.Object({ options: PasskeyOptions }, { description: 'The options.' }) },
};

const SIGN_IN = {
  tags: TAGS,
  operationId: 'signIn',
  summary: 'Sign in',
  description:
    'With the token of a one-time link, which is used up by it, or with the answer of a passkey. The answer sets the cookie of the session, which ends after 12 hours without a request and after 7 days.',
  body: Type.Object(
    {
      link: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'The text behind the `#` of the link.' }),
      ),
      passkey: Type.Optional(SignedAnswer),
    },
    {
      additionalProperties: false,
      anyOf: [{ required: ['link'] }, { required: ['passkey'] }],
      'x-rule': 'must have link or passkey',
    },
  ),
  response: {
    201: Type.Object({ session: SessionBody, person: PersonBody }, { description: 'The person is signed in.' }),
  },
};

const LIST = {
  tags: TAGS,
  operationId: 'listSessions',
  summary: 'List sessions',
  description: 'Your own open sessions, or those of a person whom you manage, the newest first.',
  querystring: Type.Object({
    personId: Type.Optional(Type.String({ maxLength: 64, description: 'Default: yourself.' })),
  }),
  response: { 200: Type.Object({ sessions: Type.Array(SessionBody) }, { description: 'The sessions.' }) },
};

const Named = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'SessionParty' });

const CURRENT = {
  tags: TAGS,
  operationId: 'getCurrentSession',
  summary: 'Get your session',
  description: 'The session of this request, its person, and what the person may do.',
  response: {
    200: Type.Object(
      {
        session: SessionBody,
        person: PersonBody,
        rights: Type.Array(Type.String(), {
          description: 'The scopes of your role, and the rights that only people have.',
        }),
        partner: nullable(Named),
        merchant: nullable(Named),
        modes: Type.Array(namedEnum('Mode', MODES), {
          description: 'The values of `Session-Mode` that show something.',
        }),
        passkeys: Type.Integer({ minimum: 0, description: 'The number of your passkeys.' }),
        verifiedUntil: { ...Timestamp, description: 'Until then, changes need no passkey.' } as typeof Timestamp,
      },
      { title: 'CurrentSession', description: 'The session.' },
    ),
  },
};

const OWN_CHALLENGE = {
  tags: TAGS,
  operationId: 'createPasskeyChallenge',
  summary: 'Begin to show or to add a passkey',
  description: 'The options of `navigator.credentials.get` or, to add one, `create`. They are good for 5 minutes.',
  body: Type.Object(
    { purpose: enumOf(['verify', 'register'], '`verify`: show a passkey again. `register`: add one.') },
    { additionalProperties: false },
  ),
  response: { 200: Type.Object({ options: PasskeyOptions }, { description: 'The options.' }) },
};

const VERIFY = {
  tags: TAGS,
  operationId: 'verifySession',
  summary: 'Show your passkey again',
  description: 'Changes of destinations and people, and large refunds, need a passkey shown within the last 5 minutes.',
  body: Type.Object({ passkey: SignedAnswer }, { additionalProperties: false }),
  response: { 200: Type.Object({ verifiedUntil: Timestamp }, { description: 'The passkey was accepted.' }) },
};

const Ended = deletedBody('The session has ended.');

const SIGN_OUT = {
  tags: TAGS,
  operationId: 'signOut',
  summary: 'Sign out',
  description: 'Ends the session of this request.',
  response: { 200: Ended },
};

const END = {
  tags: TAGS,
  operationId: 'endSession',
  summary: 'End a session',
  description: 'One of your own, or of a person whom you manage.',
  params: Type.Object({ id: Type.String({ description: 'The session.' }) }),
  response: { 200: Ended },
};
