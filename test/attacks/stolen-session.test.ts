import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { makeLink } from '../../src/actions/people/invite-person.ts';
import { VERIFIED_MS } from '../../src/domain/session.ts';
import {
  addPasskey,
  browserOf,
  cookieOf,
  type Headers,
  newAuthenticator,
  OF_OPERATOR,
  OWN_PAGE,
  ofPartner,
  signIn,
} from '../e2e/people-scene.ts';
import { createTestMerchant, createTestPartner, startTestGateway, type TestGateway } from '../gateway.ts';

const SMTP = {
  host: 'mail.example',
  port: 587,
  user: '',
  password: '',
  security: 'starttls',
  from: 'till@example.com',
};
const NEEDS_PASSKEY = [403, { needs: 'passkey' }];

describe('an attacker who has the cookie of a session, or makes a link', () => {
  let gateway: TestGateway;
  let aheadMs = 0;
  let partner: Awaited<ReturnType<typeof createTestPartner>>;
  before(async () => {
    const clock = { nowMs: () => Date.now() + aheadMs };
    gateway = await startTestGateway({ world: { clock }, config: { smtp: SMTP as never } });
    partner = await createTestPartner(gateway);
  });
  after(() => gateway.stop());

  const owner = () => signIn(gateway, { belonging: ofPartner(partner.partner.id) });
  const refusalOf = async (answer: ReturnType<TestGateway['call']>) => {
    const { statusCode, body, json } = await answer;
    assert.ok(statusCode >= 400, body);
    return [statusCode, json().details];
  };

  it('adds no first passkey once the sign-in link was used five minutes ago', async () => {
    const { headers } = await owner();
    aheadMs += VERIFIED_MS;
    const { response } = await addPasskey(gateway, headers);
    assert.deepEqual([response.statusCode, response.json().details], [403, { needs: 'link' }]);
    const passkeys = await browserOf(gateway, headers)('GET', '/v1/passkeys');
    assert.deepEqual(passkeys.json().passkeys, []);
  });

  it('has no events sent elsewhere, and stops no merchant, without the passkey', async () => {
    const merchant = await createTestMerchant(gateway, partner.headers);
    const { headers } = await owner();
    await addPasskey(gateway, headers);
    const call = browserOf(gateway, headers);
    const hook = { url: 'https://attacker.example/hook', events: ['*'] };
    const made = await call('POST', '/v1/webhook-endpoints', hook);
    assert.equal(made.statusCode, 201, made.body);
    const endpoint = `/v1/webhook-endpoints/${made.json().webhookEndpoint.id}`;
    aheadMs += VERIFIED_MS;
    const refused = [
      await refusalOf(call('POST', '/v1/webhook-endpoints', hook)),
      await refusalOf(call('PATCH', endpoint, { url: 'https://other.example/hook' })),
      await refusalOf(call('DELETE', endpoint)),
      await refusalOf(call('POST', `${endpoint}/rotate-secret`)),
      await refusalOf(call('PUT', `/v1/merchants/${merchant.id}/status`, { status: 'suspended' })),
      await refusalOf(call('DELETE', `/v1/merchants/${merchant.id}`)),
    ];
    assert.deepEqual(
      refused,
      refused.map(() => NEEDS_PASSKEY),
    );
    const shown = await gateway.call({ url: `/v1/merchants/${merchant.id}`, headers: partner.headers });
    assert.equal(shown.json().merchant.status, 'active');
  });

  it('shows no passkey from a page that frames ours', async () => {
    const { headers } = await owner();
    const framed = newAuthenticator(gateway, { isCrossOrigin: true });
    assert.equal((await addPasskey(gateway, headers, framed)).response.statusCode, 400);
    const { authenticator, response } = await addPasskey(gateway, headers);
    assert.equal(response.statusCode, 201, response.body);
    const challenge = await gateway.call({ method: 'POST', url: '/v1/sessions/challenge', headers: OWN_PAGE });
    const passkey = authenticator.get(challenge.json().options, { isCrossOrigin: true });
    const signedIn = await gateway.call({
      method: 'POST',
      url: '/v1/sessions',
      headers: OWN_PAGE,
      payload: { passkey },
    });
    assert.equal(signedIn.statusCode, 401);
  });

  it('as a person of the operator reads people of partners, and writes none of them', async () => {
    const { person, sessionId } = await owner();
    const { headers } = await signIn(gateway, { belonging: OF_OPERATOR });
    const call = browserOf(gateway, { ...headers, 'partner-id': partner.partner.id });
    assert.equal((await call('GET', '/v1/people')).statusCode, 200);
    const body = { name: 'New', email: 'new@attacker.example', role: 'owner' };
    for (const answer of [
      await call('POST', `/v1/people/${person.id}/link`),
      await call('POST', '/v1/people', body),
      await call('PATCH', `/v1/people/${person.id}`, { role: 'cashier' }),
      await call('DELETE', `/v1/people/${person.id}`),
      await call('DELETE', `/v1/sessions/${sessionId}`),
    ]) {
      assert.ok([403, 404].includes(answer.statusCode), answer.body);
    }
    assert.ok(!(await call('GET', '/v1/sessions/current')).json().rights.includes('people:write'));
    assert.equal((await browserOf(gateway, headers)('POST', '/v1/people', body)).statusCode, 201, 'their own people');
  });

  /** The session that the mailed link of a person who has a passkey opens. */
  async function sessionByLink(personId: string): Promise<Headers> {
    const link = await command(gateway, (tx, now) => makeLink(tx, gateway, { personId, now }));
    const payload = { link: link.token };
    const response = await gateway.call({ method: 'POST', url: '/v1/sessions', headers: OWN_PAGE, payload });
    assert.equal(response.statusCode, 201, response.body);
    return { ...OWN_PAGE, cookie: cookieOf(response) };
  }

  it('gets no link of a person who has a passkey: it is mailed to that person alone', async () => {
    const { headers: own } = await owner();
    const colleague = await owner();
    await addPasskey(gateway, colleague.headers);
    const answer = await browserOf(gateway, own)('POST', `/v1/people/${colleague.person.id}/link`);
    assert.equal(answer.statusCode, 201, answer.body);
    assert.deepEqual([answer.json().link.url, answer.json().link.isMailed], [null, true]);
    const mails = await gateway.db.sql<{ recipient: string; kind: string }[]>`
      select recipient, content ->> 'kind' as kind from mails where subject = ${colleague.person.id}`;
    assert.deepEqual([...mails], [{ recipient: colleague.person.email, kind: 'sign_in_link' }]);
  });

  it('cannot do with a link what a passkey is for', async () => {
    const { headers, person } = await owner();
    const { authenticator } = await addPasskey(gateway, headers);
    const byLink = await sessionByLink(person.id);
    const call = browserOf(gateway, byLink);
    const key = { label: 'Till', scopes: ['refunds:write'] };
    assert.deepEqual(await refusalOf(call('POST', '/v1/api-keys', key)), NEEDS_PASSKEY);
    const added = await addPasskey(gateway, byLink);
    assert.deepEqual([added.response.statusCode, added.response.json().details], NEEDS_PASSKEY);
    const { options } = (await call('POST', '/v1/sessions/current/challenge', { purpose: 'verify' })).json();
    await call('POST', '/v1/sessions/current/verify', { passkey: authenticator.get(options) });
    assert.equal((await call('POST', '/v1/api-keys', key)).statusCode, 201);
  });
});
