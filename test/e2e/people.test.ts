import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { relinkPerson } from '../../src/actions/people/invite-person.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { hashToken, IDLE_MS, LINK_MS, SESSION_MS, VERIFIED_MS } from '../../src/domain/session.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { runCommand } from '../run-command.ts';
import {
  addPasskey,
  browserOf,
  cookieOf,
  type Headers,
  invite,
  newAuthenticator,
  OF_OPERATOR,
  OWN_PAGE,
  ofMerchant,
  ofPartner,
  signIn,
} from './people-scene.ts';
import { happen, ORDER } from './shop.ts';

const SECRET = randomBytes(32);

describe('people', () => {
  let gateway: TestGateway;
  let aheadMs = 0;
  let partner: Awaited<ReturnType<typeof createTestPartner>>;
  const later = async (ms: number) => {
    aheadMs += ms;
  };
  before(async () => {
    const clock = { nowMs: () => Date.now() + aheadMs };
    gateway = await startTestGateway({ world: { clock }, masterSecret: SECRET });
    partner = await createTestPartner(gateway);
  });
  after(() => gateway.stop());

  const owner = () => signIn(gateway, { belonging: ofPartner(partner.partner.id) });
  const visit = (payload: object, headers: Headers = OWN_PAGE) =>
    gateway.call({ method: 'POST', url: '/v1/sessions', headers, payload });
  const current = (headers: Headers) => browserOf(gateway, headers)('GET', '/v1/sessions/current');
  async function signInOptions() {
    const response = await gateway.call({ method: 'POST', url: '/v1/sessions/challenge', headers: OWN_PAGE });
    return response.json().options;
  }

  describe('one-time links', () => {
    it('sign in once, with a cookie that scripts and other sites cannot use', async () => {
      const { link, person } = await invite(gateway, { belonging: ofPartner(partner.partner.id) });
      const first = await visit({ link: link.token });
      assert.equal(first.statusCode, 201);
      assert.equal(first.json().person.id, person.id);
      assert.match(
        String(first.headers['set-cookie']),
        // Not a date, which browsers compare with the `Date` of the answer: the clock of a sandbox may be days ahead.
        /^till_session=[\w-]{43}; Max-Age=43[12]\d\d; Path=\/; HttpOnly; SameSite=Strict$/,
      );
      assert.equal((await visit({ link: link.token })).statusCode, 401);
      const me = await current({ ...OWN_PAGE, cookie: cookieOf(first) });
      assert.deepEqual([me.json().person.status, me.json().partner.id], ['active', partner.partner.id]);
    });

    it('are used by one of many requests at once', async () => {
      const { link } = await invite(gateway, { belonging: ofPartner(partner.partner.id) });
      const answers = await Promise.all(Array.from({ length: 5 }, () => visit({ link: link.token })));
      assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 1);
    });

    it('expire, and end when a newer one is made', async () => {
      const expired = await invite(gateway, { belonging: ofPartner(partner.partner.id) });
      await later(LINK_MS);
      assert.equal((await visit({ link: expired.link.token })).statusCode, 401);
      const { headers } = await owner();
      const { link, person } = await invite(gateway, { belonging: ofPartner(partner.partner.id) });
      const renewed = await browserOf(gateway, headers)('POST', `/v1/people/${person.id}/link`);
      assert.equal(renewed.statusCode, 201);
      assert.equal((await visit({ link: link.token })).statusCode, 401);
      assert.equal((await visit({ link: renewed.json().link.url.split('#')[1] })).statusCode, 201);
    });
  });

  describe('people who have lost every passkey', () => {
    it('get no link by the API where no mail is sent, and begin anew by the command', async () => {
      const { headers, person } = await owner();
      const { authenticator } = await addPasskey(gateway, headers);
      const colleague = await owner();
      const refused = await browserOf(gateway, colleague.headers)('POST', `/v1/people/${person.id}/link`);
      assert.deepEqual([refused.statusCode, refused.json().code], [409, 'invalid_state']);
      const command = { actor: 'test', personId: person.id, isSeen: () => true, forgetsPasskeys: true };
      const { link } = await relinkPerson(gateway, command);
      const signedIn = await visit({ link: link?.token });
      const anew = { ...OWN_PAGE, cookie: cookieOf(signedIn) };
      const passkey = authenticator.get(await signInOptions());
      assert.equal((await visit({ passkey })).statusCode, 401, 'the lost one has ended');
      assert.equal((await addPasskey(gateway, anew)).response.statusCode, 201);
    });
  });

  describe('the command for a new link', () => {
    const MAIL = { SMTP_URL: 'smtp://127.0.0.1:2525', MAIL_FROM: 'till@gateway.example' };
    const NOTHING = {};
    const link = (personId: string, mail: Readonly<Record<string, string>>, ...options: string[]) => {
      const TILL_SECRET = SECRET.toString('base64');
      const env = { DATABASE_URL: gateway.databaseUrl, TILL_SECRET, ...mail };
      return runCommand(['people', 'link', personId, '--json', ...options], { env, world: gateway.world });
    };
    const shown = async (...[personId, mail, ...options]: Parameters<typeof link>) => {
      const { exitCode, stdout, stderr } = await link(personId, mail, ...options);
      assert.equal(exitCode, 0, stderr);
      const { url, isMailed } = JSON.parse(stdout).link;
      return { isShown: url !== null, isMailed };
    };

    it('shows it for a person without a passkey, with mail and without', async () => {
      const { person } = await invite(gateway, { belonging: ofPartner(partner.partner.id) });
      assert.deepEqual(await shown(person.id, NOTHING), { isShown: true, isMailed: false });
      assert.deepEqual(await shown(person.id, MAIL), { isShown: true, isMailed: true });
    });

    it('mails it to a person with a passkey, and shows it to nobody', async () => {
      const { person, headers } = await owner();
      await addPasskey(gateway, headers);
      assert.deepEqual(await shown(person.id, MAIL), { isShown: false, isMailed: true });
      assert.deepEqual(await shown(person.id, MAIL, '--forget-passkeys'), { isShown: false, isMailed: true });
    });

    it('makes none without mail for a person with a passkey, until the passkeys are forgotten', async () => {
      const { person, headers } = await owner();
      await addPasskey(gateway, headers);
      const { exitCode, stderr } = await link(person.id, NOTHING);
      assert.equal(exitCode, 1);
      assert.match(stderr, /--forget-passkeys/);
      assert.deepEqual(await shown(person.id, NOTHING, '--forget-passkeys'), { isShown: true, isMailed: false });
    });
  });

  describe('passkeys', () => {
    it('sign in, and each answer works once', async () => {
      const { headers, person } = await owner();
      const { authenticator, response } = await addPasskey(gateway, headers);
      assert.equal(response.statusCode, 201, response.body);
      const passkey = authenticator.get(await signInOptions());
      const signedIn = await visit({ passkey });
      assert.equal(signedIn.statusCode, 201, signedIn.body);
      assert.equal(signedIn.json().person.id, person.id);
      assert.equal((await visit({ passkey })).statusCode, 401);
    });

    it('of another site, with another challenge, or that nobody added are refused', async () => {
      const { headers } = await owner();
      const { authenticator } = await addPasskey(gateway, headers);
      const options = await signInOptions();
      const foreign = newAuthenticator(gateway, { origin: 'https://evil.example' });
      assert.equal((await addPasskey(gateway, headers, foreign)).response.statusCode, 400);
      assert.equal((await visit({ passkey: newAuthenticator(gateway).get(options) })).statusCode, 401);
      const madeUp = { challenge: Buffer.alloc(38).toString('base64url') };
      assert.equal((await visit({ passkey: authenticator.get(madeUp) })).statusCode, 401);
      await later(6 * 60_000);
      assert.equal((await visit({ passkey: authenticator.get(options) })).statusCode, 401);
    });

    it('of a session cannot be shown for another session, or to sign in', async () => {
      const one = await owner();
      const two = await owner();
      const { authenticator } = await addPasskey(gateway, one.headers);
      const challengeOf = async (headers: Headers) =>
        (await browserOf(gateway, headers)('POST', '/v1/sessions/current/challenge', { purpose: 'verify' })).json();
      const { options } = await challengeOf(two.headers);
      const verify = (headers: Headers, passkey: object) =>
        browserOf(gateway, headers)('POST', '/v1/sessions/current/verify', { passkey });
      assert.equal((await verify(two.headers, authenticator.get(options))).statusCode, 400, 'another person');
      const own = await challengeOf(one.headers);
      assert.equal((await visit({ passkey: authenticator.get(own.options) })).statusCode, 401, 'sign in');
      assert.equal((await verify(one.headers, authenticator.get(own.options))).statusCode, 200);
    });

    it('stay: the last one cannot be removed, another one can', async () => {
      const { headers } = await owner();
      const first = (await addPasskey(gateway, headers)).response.json().passkey;
      const remove = (id: string) => browserOf(gateway, headers)('DELETE', `/v1/passkeys/${id}`);
      assert.equal((await remove(first.id)).statusCode, 409);
      await addPasskey(gateway, headers);
      assert.equal((await remove(first.id)).statusCode, 200);
      assert.equal((await remove(first.id)).statusCode, 404);
    });

    it('are limited: failures count against the passkey and the address', async () => {
      const ip = '198.51.100.77';
      const failing = () =>
        gateway.call({
          method: 'POST',
          url: '/v1/sessions',
          headers: OWN_PAGE,
          remoteAddress: ip,
          payload: { link: 'wrong' },
        });
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 21; attempt += 1) statuses.push((await failing()).statusCode);
      assert.deepEqual([statuses[0], statuses[19], statuses[20]], [401, 401, 429]);
      await later(11 * 60_000);
      assert.equal((await failing()).statusCode, 401);
    });

    it('are limited, also when all failures come at the same moment', async () => {
      const request = {
        method: 'POST',
        url: '/v1/sessions',
        headers: OWN_PAGE,
        remoteAddress: '198.51.100.78',
        payload: { link: 'wrong' },
      } as const;
      const answers = await Promise.all(Array.from({ length: 30 }, () => gateway.call(request)));
      assert.equal(answers.filter(({ statusCode }) => statusCode === 401).length, 20);
    });
  });

  describe('sessions', () => {
    it('need a page of this origin and our own header', async () => {
      const { headers } = await owner();
      const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
      assert.equal((await current(headers)).statusCode, 200);
      assert.equal((await current(without('sec-fetch-site'))).statusCode, 403);
      assert.equal((await current(without('session-mode'))).statusCode, 403);
      assert.equal((await current({ ...headers, 'sec-fetch-site': 'cross-site' })).statusCode, 403);
      assert.equal((await current({ ...headers, 'sec-fetch-site': 'same-site' })).statusCode, 403);
      assert.equal((await current(without('cookie'))).statusCode, 401);
      assert.equal((await visit({ link: 'x' }, { 'session-mode': 'test' })).statusCode, 403);
    });

    it('are ignored on gateway routes, and an Api-Key counts before them', async () => {
      const { headers } = await owner();
      const call = browserOf(gateway, headers);
      const gatewayRoute = await call('GET', '/v1/gateway/payment/pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6/status');
      assert.equal(gatewayRoute.json().code, 'missing_auth_headers');
      const both = await call('GET', '/v1/merchants', undefined, { 'api-key': 'till_test_wrong' });
      assert.equal(both.json().code, 'invalid_api_key');
    });

    it('end when they are idle, too old, signed out, or the person is removed', async () => {
      const idle = await owner();
      await later(IDLE_MS);
      assert.equal((await current(idle.headers)).statusCode, 401);

      const old = await owner();
      await addPasskey(gateway, old.headers);
      for (let used = 0; used < SESSION_MS; used += IDLE_MS / 2) {
        assert.equal((await current(old.headers)).statusCode, 200);
        await gateway.sessionUses.flush(gateway);
        await later(IDLE_MS / 2);
      }
      assert.equal((await current(old.headers)).statusCode, 401);

      const out = await owner();
      const ended = await browserOf(gateway, out.headers)('DELETE', '/v1/sessions/current');
      assert.match(String(ended.headers['set-cookie']), /^till_session=; Max-Age=0/);
      assert.equal((await current(out.headers)).statusCode, 401);

      const [boss, gone] = [await owner(), await owner()];
      assert.equal((await current(gone.headers)).statusCode, 200);
      assert.equal((await browserOf(gateway, boss.headers)('DELETE', `/v1/people/${gone.person.id}`)).statusCode, 200);
      await later(5_000);
      assert.equal((await current(gone.headers)).statusCode, 401);
    });

    it('are listed, and owners end those of others', async () => {
      const [boss, other] = [await owner(), await owner()];
      const call = browserOf(gateway, boss.headers);
      const own = (await call('GET', '/v1/sessions')).json().sessions;
      assert.deepEqual([own.length, own[0].isCurrent], [1, true]);
      const theirs = (await call('GET', `/v1/sessions?personId=${other.person.id}`)).json().sessions;
      assert.equal(theirs[0].id, other.sessionId);
      assert.equal((await call('DELETE', `/v1/sessions/${other.sessionId}`)).statusCode, 200);
      assert.equal((await current(other.headers)).statusCode, 401);
    });

    it('of a disabled partner are refused', async () => {
      const { partner: stopped } = await createTestPartner(gateway);
      const { headers } = await signIn(gateway, { belonging: ofPartner(stopped.id) });
      await gateway.db.sql`update partners set disabled_at = now() where id = ${stopped.id}`;
      await later(5_000);
      assert.equal((await current(headers)).statusCode, 401);
    });
  });

  describe('roles', () => {
    async function paid(value = '1000') {
      const merchant = await createTestMerchant(gateway, partner.headers);
      const created = await gateway.call({
        method: 'POST',
        url: '/v1/payments',
        headers: { ...partner.headers, 'merchant-id': merchant.id },
        payload: { ...ORDER, amount: { unit: 'iso4217/USD', value } },
      });
      const { paymentId } = created.json();
      await happen(gateway, paymentId, 'confirmed', 'succeeded');
      const account = `0x${'1'.repeat(40)}`;
      await gateway.db.sql`
        insert into items (commitment, subject, network, collector, asset, method, payer, account, recipient, fee_account,
          amount, fee, deadline, buyer_name, state, accepted_at)
        values (${paymentId}, ${paymentId}, 'eip155:1', ${account}, 'eip155:1/slip44:60', 'native', ${account}, ${account},
          ${account}, ${account}, ${value}, 0, now(), 'Wallet', 'paid', now())`;
      return { merchantId: merchant.id, paymentId };
    }
    const refund = (headers: Headers, { merchantId, paymentId }: Awaited<ReturnType<typeof paid>>, part?: string) =>
      browserOf(gateway, headers)(
        'POST',
        '/v1/refunds',
        { paymentId, ...(part && { amount: { unit: 'iso4217/USD', value: part } }) },
        { 'merchant-id': merchantId, ...(part && { 'idempotency-key': freshKey() }) },
      );

    it('let support refund up to the limit of the person, and ask for the passkey again', async () => {
      const { headers } = await signIn(gateway, {
        belonging: ofPartner(partner.partner.id),
        role: 'support',
        refundLimits: [{ unit: 'iso4217/USD', value: '1000' }],
      });
      const small = await paid();
      // There is no network here: the refund is refused for that, after the rights were checked.
      assert.notEqual((await refund(headers, small)).statusCode, 403);
      const above = await paid('3000');
      const large = await refund(headers, above);
      assert.deepEqual([large.statusCode, large.json().details], [403, undefined]);
      assert.equal(
        large.json().message,
        'You may refund at most 10.00 USD of one payment, and this would make 30.00 USD. An owner can raise your limit in the dashboard, on the page Team.',
      );
      assert.notEqual((await refund(headers, above, '1000')).statusCode, 403);
      await gateway.db.sql`
        insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
          from_held, from_merchant, from_operator, account, requested_at, updated_at)
        select ${refundIdOf(above.paymentId, 1)}, subject, ${above.merchantId}, network, asset, method, payer, 1, 1, 0,
          'failed', 1, 0, 0, payer, now(), now() from items where subject = ${above.paymentId}`;
      assert.equal((await refund(headers, above, '1000')).statusCode, 403, 'earlier parts count');
      assert.notEqual((await refund(headers, above, '999')).statusCode, 403);
      await later(VERIFIED_MS);
      const again = await refund(headers, small);
      assert.deepEqual([again.statusCode, again.json().details], [403, { needs: 'passkey' }]);
    });

    it('let support refund nothing in a unit without a limit, and say so', async () => {
      const payment = await paid('1');
      for (const refundLimits of [null, [{ unit: 'iso4217/EUR', value: '100000' }]]) {
        const belonging = ofPartner(partner.partner.id);
        const { headers } = await signIn(gateway, { belonging, role: 'support', refundLimits });
        const refused = await refund(headers, payment);
        assert.deepEqual([refused.statusCode, refused.json().code], [403, 'forbidden']);
        assert.equal(
          refused.json().message,
          'You may refund none in USD, and this would make 0.01 USD. An owner can raise your limit in the dashboard, on the page Team.',
        );
      }
    });

    it('have one refund limit for each unit, however it is spelled', async () => {
      const { headers } = await owner();
      const token = 'caip19/eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
      const [usd, lower] = ['iso4217/USD', token.toLowerCase()];
      for (const units of [
        [usd, usd],
        [token, lower],
      ]) {
        const refundLimits = units.map((unit) => ({ unit, value: '1000' }));
        const body = { name: 'Sam', email: 'sam@example.com', role: 'support', refundLimits };
        const answer = await browserOf(gateway, headers)('POST', '/v1/people', body);
        const { code, message } = answer.json();
        assert.deepEqual(
          [code, message],
          [
            'params_validation',
            `Validation error: refundLimits[1].unit is the unit of refundLimits[0], too: ${units[0]}`,
          ],
        );
      }
    });

    it('ask owners for the passkey again before destinations and people change', async () => {
      const { headers } = await owner();
      const { authenticator } = await addPasskey(gateway, headers);
      await later(VERIFIED_MS);
      const call = browserOf(gateway, headers);
      const body = { name: 'New', email: 'new@shop.example', role: 'cashier' };
      const refused = await call('POST', '/v1/people', body);
      assert.deepEqual([refused.statusCode, refused.json().details], [403, { needs: 'passkey' }]);
      const { options } = (await call('POST', '/v1/sessions/current/challenge', { purpose: 'verify' })).json();
      const shown = await call('POST', '/v1/sessions/current/verify', { passkey: authenticator.get(options) });
      assert.equal(shown.statusCode, 200, shown.body);
      const invited = await call('POST', '/v1/people', body);
      assert.equal(invited.statusCode, 201, invited.body);
      assert.match(invited.json().link.url, /\/dashboard\/join#[\w-]{43}$/);
      assert.equal((await call('POST', '/v1/people', body)).statusCode, 409, 'the same address twice');
    });

    it('cannot be raised by hand: a changed row is refused', async () => {
      const { headers, person } = await signIn(gateway, { belonging: ofPartner(partner.partner.id), role: 'cashier' });
      assert.equal((await browserOf(gateway, headers)('GET', '/v1/people')).statusCode, 403);
      await gateway.db.sql`update people set role = 'owner' where id = ${person.id}`;
      await later(5_000);
      assert.equal((await browserOf(gateway, headers)('GET', '/v1/people')).statusCode, 401);
    });

    it('cannot be taken by rows that somebody else wrote: links, passkeys and sessions', async () => {
      const { sql } = gateway.db;
      const boss = await owner();
      const token = 'A'.repeat(43);
      await sql`
        insert into sign_in_links (id, person_id, hash, created_at, expires_at, mac)
        values ('lnk_forged', ${boss.person.id}, ${hashToken(token)}, now(), now() + interval '30 days', 'forged')`;
      assert.equal((await visit({ link: token })).statusCode, 401);

      const cashier = await signIn(gateway, { belonging: ofPartner(partner.partner.id), role: 'cashier' });
      const { authenticator } = await addPasskey(gateway, cashier.headers);
      await sql`update passkeys set person_id = ${boss.person.id} where person_id = ${cashier.person.id}`;
      assert.equal((await visit({ passkey: authenticator.get(await signInOptions()) })).statusCode, 401);

      await sql`update sessions set person_id = ${boss.person.id} where id = ${cashier.sessionId}`;
      await later(5_000);
      assert.equal((await current(cashier.headers)).statusCode, 401);
    });

    it('do not come back with the row of a removed person', async () => {
      const { headers, person } = await owner();
      const boss = await owner();
      assert.equal((await browserOf(gateway, boss.headers)('DELETE', `/v1/people/${person.id}`)).statusCode, 200);
      await gateway.db.sql`update people set removed_at = null where id = ${person.id}`;
      await gateway.db.sql`update sessions set ended_at = null where person_id = ${person.id}`;
      await later(5_000);
      assert.equal((await current(headers)).statusCode, 401);
    });

    it('keep the last owner, and refuse the later of two edits', async () => {
      const { partner: fresh } = await createTestPartner(gateway);
      const { headers, person } = await signIn(gateway, { belonging: ofPartner(fresh.id) });
      const call = browserOf(gateway, headers);
      assert.equal((await call('DELETE', `/v1/people/${person.id}`)).statusCode, 409);
      assert.equal((await call('PATCH', `/v1/people/${person.id}`, { role: 'cashier' })).statusCode, 409);
      const renamed = await call('PATCH', `/v1/people/${person.id}`, { name: 'Ada <b>\u202e', version: 1 });
      assert.deepEqual([renamed.statusCode, renamed.json().person.version], [200, 2]);
      const late = await call('PATCH', `/v1/people/${person.id}`, { name: 'Bob', version: 1 });
      assert.equal(late.statusCode, 409);
      assert.equal(late.json().details.current.name, 'Ada <b>\u202e');
    });

    it('of a merchant see that merchant alone, in its mode', async () => {
      const [own, other] = [
        await createTestMerchant(gateway, partner.headers),
        await createTestMerchant(gateway, partner.headers),
      ];
      const { headers } = await signIn(gateway, { belonging: ofMerchant(partner.partner.id, own.id) });
      const call = browserOf(gateway, headers);
      assert.deepEqual(
        (await call('GET', '/v1/merchants')).json().merchants.map(({ id }: { id: string }) => id),
        [own.id],
      );
      assert.equal((await call('GET', `/v1/merchants/${other.id}`)).statusCode, 403);
      assert.equal((await call('GET', '/v1/merchants', undefined, { 'session-mode': 'live' })).statusCode, 403);
      const people = (await call('GET', '/v1/people')).json().people;
      assert.ok(people.every(({ merchantId }: { merchantId: string }) => merchantId === own.id));
      const body = { name: 'X', email: 'x@shop.example', role: 'owner', merchantId: other.id };
      assert.equal((await call('POST', '/v1/people', body)).statusCode, 403);
    });

    it('of the operator name a partner, and read', async () => {
      const { headers } = await signIn(gateway, { belonging: OF_OPERATOR });
      const call = browserOf(gateway, headers);
      assert.equal((await call('GET', '/v1/merchants')).statusCode, 403);
      const named = { 'partner-id': partner.partner.id };
      assert.equal((await call('GET', '/v1/merchants', undefined, named)).statusCode, 200);
      assert.equal((await call('POST', '/v1/webhook-endpoints', {}, named)).statusCode, 403);
      const people = (await call('GET', '/v1/people')).json().people;
      assert.ok(people.every(({ belongsTo }: { belongsTo: string }) => belongsTo === 'operator'));
    });
  });

  describe('the audit log', () => {
    it('has what people and keys of the partner did, and nothing of others', async () => {
      const one = await createTestPartner(gateway);
      const two = await createTestPartner(gateway);
      const { headers, person } = await signIn(gateway, { belonging: ofPartner(one.partner.id), name: 'Ada' });
      await signIn(gateway, { belonging: ofPartner(two.partner.id) });
      const merchant = await createTestMerchant(gateway, one.headers);
      const entries = (await browserOf(gateway, headers)('GET', '/v1/audit-log')).json().entries;
      assert.deepEqual(
        entries.map(({ action, actorName }: { action: string; actorName: string }) => [action, actorName]),
        [
          ['merchant.created', 'Test'],
          ['session.begun', 'Ada'],
          ['person.invited', null],
        ],
      );
      assert.deepEqual([entries[0].subject, entries[1].actor], [merchant.id, `person:${person.id}`]);
      const page = (await browserOf(gateway, headers)('GET', '/v1/audit-log?limit=2')).json();
      const next = await browserOf(gateway, headers)('GET', `/v1/audit-log?limit=2&cursor=${page.nextCursor}`);
      assert.deepEqual([page.entries.length, next.json().entries.length], [2, 1]);
      assert.doesNotMatch(JSON.stringify(entries), /till_session|"token"|"hash"/);
    });
  });
});
