import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { clearAlert, raiseAlert } from '../../src/actions/alerts.ts';
import { command } from '../../src/actions/command.ts';
import { ALERT_MAILS_PER_HOUR, mailAlerts } from '../../src/actions/mail/mail-alerts.ts';
import { createMailCheck, maintainMails } from '../../src/actions/mail/maintain-mails.ts';
import { rewrapMailLinks } from '../../src/actions/mail/rewrap-links.ts';
import { sendDueMails } from '../../src/actions/mail/send-mails.ts';
import { eraseAccount, eraseEmail } from '../../src/actions/paying/erase-payer.ts';
import { linkUrl, relinkPerson } from '../../src/actions/people/invite-person.ts';
import { within } from '../../src/actions/renew-macs.ts';
import { firstIdAt } from '../../src/domain/ids.ts';
import { MAILED_RECEIPTS } from '../../src/http/entry/count-limit.ts';
import { receiptUrl } from '../../src/http/receipts/receipt-url.ts';
import { createMailer, type Mailer } from '../../src/mail/smtp.ts';
import { en } from '../../src/mail/words/en.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { listAudit } from '../../src/store/plumbing/audit-log.ts';
import { use } from '../count-use.ts';
import { createTestApp, TEST_SECRET } from '../gateway.ts';
import { headerText, startMailServer } from '../mail-server.ts';
import { until } from '../until.ts';
import { paidPayment } from './paid-payment.ts';
import { openPayingShop, type PayingShop, USDC } from './paying-shop.ts';
import { addPasskey, browserOf, OF_OPERATOR, OWN_PAGE, ofMerchant, ofPartner, signIn } from './people-scene.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SENDER = { name: 'Till', address: 'till@gateway.example' };
const FAMILY = '👩‍👩‍👧‍👦';
const NEVER = new AbortController().signal;

interface MailRow {
  id: string;
  kind: string;
  status: string;
  recipient: string;
  tries: number;
  content: unknown;
  wrapped_link: string | null;
  due_at: Date | null;
  problem: string | null;
}

describe('mail', () => {
  let paying: PayingShop;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  let mailer: Mailer;
  const lines: string[] = [];
  before(async () => {
    server = await startMailServer();
    mailer = createMailer(systemWorld, server.terms, SENDER);
    const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
    const config = { smtp: { ...server.terms, url: 'smtp://127.0.0.1' }, mailFrom: SENDER };
    paying = await openPayingShop({ config, log });
  });
  after(async () => {
    await paying?.gateway.stop();
    await server?.stop();
  });
  beforeEach(async () => {
    server.state.behaviour = 'accept';
    server.received.length = 0;
    await command(paying.gateway, (tx) => tx`delete from mails`);
    await command(paying.gateway, (tx) => tx`delete from alerts`);
  });

  const send = (signal = NEVER, by = mailer) => sendDueMails({ ...paying.gateway, mailer: by }, signal);
  const rows = () => paying.gateway.db.sql<MailRow[]>`select * from mails order by id`;
  const alerts = () => listAlerts(paying.gateway.db.sql);

  async function owner() {
    const { headers } = await signIn(paying.gateway, { belonging: OF_OPERATOR });
    await addPasskey(paying.gateway, headers);
    return browserOf(paying.gateway, headers);
  }

  let invited = 0;
  /** A person who was invited by mail. */
  async function invite(fields: object = {}) {
    invited += 1;
    const body = { name: 'Ada', email: `ada${invited}@shop.example`, role: 'support', ...fields };
    const response = await (await owner())('POST', '/v1/people', body);
    assert.equal(response.statusCode, 201, response.body);
    return response.json() as { person: { id: string; email: string }; link: { url: string; isMailed: boolean } };
  }

  const paid = (fields: object = {}) => paidPayment(paying, fields);

  const ask = (id: string, email = 'payer@example.com', language?: string) =>
    paying.wallet.post(id, 'receipt-email', { email, ...(language && { language }) });

  it('carries an invitation to its person, whose link signs in once, and leaves no link behind', async () => {
    const { person, link } = await invite({ name: `${FAMILY.repeat(7)} مرحبا`, language: 'de' });
    assert.equal(link.isMailed, true);
    const [waiting] = await rows();
    const token = link.url.split('#')[1] ?? '';
    assert.ok(token.length > 20 && waiting?.wrapped_link);
    assert.doesNotMatch(JSON.stringify(waiting), new RegExp(token), 'the row holds no link that can be read');
    await send();
    const [mail] = server.received;
    assert.deepEqual([mail?.from, mail?.to], [SENDER.address, [person.email]]);
    assert.match(headerText(mail?.headers.get('subject')), /^Ihre Einladung zu http/);
    assert.equal(mail?.headers.get('from'), 'Till <till@gateway.example>');
    assert.ok(mail?.text.includes(link.url) && mail.html.includes(`href="${link.url}"`));
    assert.ok(mail?.text.includes(FAMILY.repeat(7)));
    const [sent] = await rows();
    assert.deepEqual([sent?.status, sent?.content, sent?.wrapped_link], ['sent', null, null]);
    assert.equal(lines.join('').includes(token), false, 'no line of the log has the link');
    const payload = { link: /join#(\S+)/.exec(mail?.text ?? '')?.[1] };
    const signed = await paying.gateway.call({ method: 'POST', url: '/v1/sessions', headers: OWN_PAGE, payload });
    assert.equal(signed.statusCode, 201, signed.body);
  });

  it('sends the newest link of a person alone, and none of a person who was removed', async () => {
    const { gateway } = paying;
    const { person } = await invite();
    const mail = { publicUrl: gateway.config.publicUrl, language: 'en', secrets: gateway.secrets } as const;
    const relinked = await relinkPerson(gateway, { actor: 'test', personId: person.id, isSeen: () => true, mail });
    await send();
    assert.equal(server.received.length, 1);
    assert.ok(relinked.link);
    assert.ok(server.received[0]?.text.includes(linkUrl(gateway.config.publicUrl, relinked.link)));
    const gone = await invite();
    await (await owner())('DELETE', `/v1/people/${gone.person.id}`);
    await send();
    assert.equal(server.received.length, 1);
  });

  it('carries ten links a day of one partner to one inbox, whoever is invited and removed, and whichever link replaces another', async () => {
    const { gateway, shop } = paying;
    const { headers } = await signIn(gateway, { belonging: ofPartner(shop.partner.id) });
    await addPasskey(gateway, headers);
    const call = browserOf(gateway, headers);
    const inviting = (email: string) => call('POST', '/v1/people', { name: 'Ada', email, role: 'support' });
    /** The mails that are out, sent or being sent when the next link replaces them. */
    const mails = async (spelling: (round: number) => string) => {
      let mailed = 0;
      for (let round = 0; round < 7; round += 1) {
        const invited = (await inviting(spelling(round))).json();
        if (invited.link.isMailed) mailed += 1;
        await command(gateway, (tx) => tx`update mails set is_claimed = true where status = 'pending'`);
        const relinked = (await call('POST', `/v1/people/${invited.person.id}/link`)).json();
        if (relinked.link.isMailed) mailed += 1;
        await send();
        assert.ok(relinked.link.url, 'the owner gets the link all the same');
        await call('DELETE', `/v1/people/${invited.person.id}`);
      }
      return mailed;
    };
    assert.equal(await mails((round) => `v.ictim+${round}@shop.example`), 10);
    assert.equal(await mails((round) => `other${round}@shop.example`), 14, 'other inboxes get theirs');
    const atOnce = await Promise.all(Array.from({ length: 14 }, (_, index) => inviting(`b.ob+${index}@shop.example`)));
    assert.equal(atOnce.filter((response) => response.json().link.isMailed).length, 10);
  });

  it('carries a hundred links a day of one merchant, and those of the others still', async () => {
    const { gateway, shop } = paying;
    const owners = { merchant: ofMerchant(shop.partner.id, shop.merchant.id), partner: ofPartner(shop.partner.id) };
    const inviter = async (belonging: typeof owners.merchant) => {
      const { headers } = await signIn(gateway, { belonging });
      await addPasskey(gateway, headers);
      const call = browserOf(gateway, headers);
      return async (email: string) => {
        const invited = (await call('POST', '/v1/people', { name: 'Ada', email, role: 'support' })).json();
        // A node is sending it when the person is removed.
        await command(gateway, (tx) => tx`update mails set is_claimed = true where status = 'pending'`);
        await call('DELETE', `/v1/people/${invited.person.id}`);
        return invited.link.isMailed;
      };
    };
    const byMerchant = await inviter(owners.merchant);
    const mailed: boolean[] = [];
    for (let count = 0; count < 102; count += 1) mailed.push(await byMerchant(`one${count}@shop.example`));
    assert.deepEqual([mailed.indexOf(false), mailed.lastIndexOf(true)], [100, 99]);
    assert.equal(await (await inviter(owners.partner))('other@shop.example'), true);
  });

  it('does not open a link whose recipient somebody has changed in the database', async () => {
    await invite();
    await command(paying.gateway, (tx) => tx`update mails set recipient = 'thief@example.com'`);
    await send();
    assert.equal(server.received.length, 0);
    assert.equal((await rows())[0]?.problem, 'Its link cannot be opened.');
  });

  it('opens links after a rotation of the master secret', async () => {
    const { link } = await invite();
    const rotated = createSecrets([new Uint8Array(32).fill(9), TEST_SECRET]);
    assert.equal(
      await command(paying.gateway, (tx) => rewrapMailLinks(within(tx), { secrets: rotated }, { isLost: false })),
      1,
    );
    const newest = createSecrets([new Uint8Array(32).fill(9)]);
    await sendDueMails({ ...paying.gateway, mailer, secrets: newest }, NEVER);
    assert.ok(server.received[0]?.text.includes(link.url));
    await invite();
    const lost = createSecrets([new Uint8Array(32).fill(3)]);
    await command(paying.gateway, (tx) => rewrapMailLinks(within(tx), { secrets: lost }, { isLost: true }));
    assert.deepEqual(
      (await rows()).map(({ status }) => status),
      ['sent'],
      'a link that nobody can open is not kept',
    );
  });

  it('carries a receipt in the language of the payer, with the order and the transaction', async () => {
    const lineItems = [
      { name: 'Coffee <b>', quantity: 2, amount: { unit: 'iso4217/USD', value: '700' } },
      { name: `Cake ${FAMILY}` },
    ];
    const id = await paid({ description: 'For here & now', lineItems });
    assert.equal((await ask(id, 'payer@example.com', 'fr')).statusCode, 202);
    await send();
    const [mail] = server.received;
    assert.match(headerText(mail?.headers.get('subject')), /^Votre reçu de Test shop$/);
    const transaction = (await paying.items(id))[0]?.commitment ?? '';
    const page = receiptUrl(paying.gateway, id);
    for (const part of [
      page,
      '10,00 USD',
      '2 × Coffee <b>: 7,00 USD',
      'ORDER-42',
      transaction,
      'For here & now',
      FAMILY,
    ]) {
      assert.ok(mail?.text.includes(part), `${part} is not in ${mail?.text}`);
    }
    assert.ok(mail?.html.includes('Coffee &lt;b&gt;') && !mail.html.includes('<b>'));
    assert.equal((await rows())[0]?.content, null);
    for (const language of ['ar', 'de', 'en', 'es', 'ja', 'pt']) {
      const other = await paid();
      await ask(other, 'payer@example.com', language);
    }
    while (await send());
    assert.equal(server.received.length, 7);
    assert.ok(server.received.every(({ text }) => !/[{}]|undefined/.test(text)));
  });

  it('carries the reference of an order to its payer, and not the id of a payment link', async () => {
    const mailOf = async (referenceId: string) => {
      const id = await paid({ referenceId });
      assert.equal((await ask(id, 'payer@example.com', 'en')).statusCode, 202);
      while (await send());
      const mail = server.received.at(-1);
      assert.ok(mail);
      assert.ok(mail.text.includes(receiptUrl(paying.gateway, id)), mail.text);
      return mail;
    };
    const order = await mailOf('ORDER-7');
    for (const body of [order.text, order.html]) {
      assert.ok(body.includes('ORDER-7') && body.includes(en.reference), body);
    }
    const link = await mailOf(firstIdAt('plk_', 0));
    for (const body of [link.text, link.html]) {
      assert.ok(body.includes('Test shop') && !body.includes('plk_') && !body.includes(en.reference), body);
    }
  });

  it('gives receipts of succeeded payments alone, and within limits', async () => {
    const open = await paying.created();
    assert.deepEqual([(await ask(open)).statusCode, (await ask(open)).json().code], [400, 'invalid_state']);
    const id = await paid();
    for (const email of [
      'a@b',
      'a@example.com, b@example.com',
      'a@example.com\r\nBcc: x@example.com',
      '"a b"@example.com',
    ]) {
      assert.equal((await ask(id, email)).json().code, 'params_validation', email);
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(id)));
    assert.ok(answers.every(({ statusCode }) => statusCode === 202));
    assert.equal((await rows()).length, 1, 'one address is asked for once');
    const many = await Promise.all(Array.from({ length: 9 }, (_, index) => ask(id, `payer${index}@example.com`)));
    assert.equal(many.filter(({ statusCode }) => statusCode === 202).length, 4);
    const refused = many.find(({ statusCode }) => statusCode === 429);
    assert.equal(refused?.headers['retry-after'], '3600');
    await command(paying.gateway, (tx) => tx`update mails set recipient = 'Victim@example.com'`);
    const others = await Promise.all(Array.from({ length: 4 }, () => paid()));
    const flood = others.map((other) =>
      command(
        paying.gateway,
        (tx) => tx`
      insert into mails (id, kind, recipient, language, subject, key, status, created_at, until, ended_at)
      select ${other} || n, 'receipt', 'victim@example.com', 'en', 'other', ${other} || n, 'sent', ${at()}, ${at()}, ${at()}
      from generate_series(1, 4) n`,
      ),
    );
    await Promise.all(flood);
    for (const spelling of ['victim@example.com', 'V.ictim@example.com', 'victim+1@example.com']) {
      assert.equal((await ask(others[0] ?? '', spelling)).statusCode, 429, spelling);
    }
  });

  it('gives so many receipts of a merchant a day, and so many to one address of the internet', async () => {
    const id = await paid();
    const { id: merchantId } = paying.shop.merchant;
    await command(
      paying.gateway,
      (tx) => tx`
      insert into mails (id, kind, recipient, language, subject, key, status, merchant_id, created_at, until, ended_at)
      select 'm' || n, 'receipt', n || '@example.com', 'en', 'other', 'm' || n, 'sent', ${merchantId}, ${at()}, ${at()}, ${at()}
      from generate_series(1, 2000) n`,
    );
    const refused = await ask(id);
    assert.deepEqual([refused.statusCode, refused.json().message.startsWith('This merchant')], [429, true]);
    await command(paying.gateway, (tx) => tx`delete from mails`);
    assert.equal((await ask(id)).statusCode, 202);
    const { mailedReceipts } = paying.gateway;
    for (let count = 1; count < MAILED_RECEIPTS.max; count += 1) await use(mailedReceipts, '127.0.0.1');
    const app = await createTestApp(paying.gateway);
    const byApp = async () =>
      paying.gateway.call({
        method: 'POST',
        url: `/v1/gateway/payment/${await paid()}/receipt-email`,
        headers: { 'app-id': app.id, 'client-id': 'payer' },
        payload: { email: 'payer@example.com' },
      });
    assert.equal((await byApp()).statusCode, 202, 'the mail before the limit');
    assert.equal((await byApp()).statusCode, 429);
    await paying.time.advance(11 * 60_000);
    assert.equal((await byApp()).statusCode, 202);
  });
  const at = () => new Date(paying.time.clock.nowMs());

  it('gives no receipt without a server for mail', async () => {
    const { config } = paying.gateway;
    const id = await paid();
    const smtp = config.smtp;
    Object.assign(config, { smtp: undefined });
    try {
      assert.deepEqual([(await ask(id)).statusCode, (await ask(id)).json().code], [400, 'invalid_state']);
      assert.equal((await invite()).link.isMailed, false);
      assert.equal((await rows()).length, 0);
    } finally {
      Object.assign(config, { smtp });
    }
  });

  it('is tried again when the server is busy, and given up after a day with an alert', async () => {
    server.state.behaviour = 'busy';
    await invite();
    const check = createMailCheck(paying.gateway);
    for (let tries = 1; tries < 40; tries += 1) {
      await send();
      const [row] = await rows();
      if (row?.due_at === null) break;
      assert.equal(row?.tries, tries);
      await paying.time.advance((row?.due_at.getTime() ?? 0) - paying.time.clock.nowMs());
    }
    const [row] = await rows();
    assert.deepEqual([row?.status, row?.content, row?.wrapped_link], ['failed', null, null]);
    assert.ok((row?.tries ?? 0) >= 8 && (row?.tries ?? 0) <= 14, String(row?.tries));
    await check();
    assert.deepEqual(
      (await alerts()).map(({ name, subject }) => [name, subject]),
      [['mails_given_up', 'invitation']],
    );
    assert.match(
      (await alerts())[0]?.message ?? '',
      /^Mails of the kind invitation that were given up within a day: 1\. .* EENVELOPE RCPT TO 451/,
    );
    await paying.time.advance(2 * DAY_MS);
    await check();
    assert.deepEqual(await alerts(), [], 'the alert ends a day later');
  });

  it('is given up at once when the server refuses the recipient; a payer’s typing error alerts nobody', async () => {
    server.state.behaviour = 'refuse';
    await ask(await paid(), 'nobody@example.com');
    await send();
    const [row] = await rows();
    assert.deepEqual([row?.status, row?.tries], ['failed', 1]);
    await createMailCheck(paying.gateway)();
    assert.deepEqual(await alerts(), []);
  });

  it('is sent again, under the same id, when the server takes it and cuts the connection', async () => {
    await invite();
    server.state.behaviour = 'drop';
    await send();
    assert.equal((await rows())[0]?.status, 'pending');
    server.state.behaviour = 'accept';
    await paying.time.advance(2 * 60_000);
    await send();
    const ids = server.received.map(({ headers }) => headers.get('message-id'));
    assert.equal(ids.length, 2);
    assert.match(ids[0] ?? '', /^<mail_\w{26}@gateway\.example>$/);
    assert.equal(ids[0], ids[1]);
    assert.equal((await rows())[0]?.status, 'sent');
  });

  it('leaves a server that hangs: at the limit of an attempt, and when the node stops', async () => {
    server.state.behaviour = 'hang';
    const cuts: (() => void)[] = [];
    const after = (_ms: number, run: () => void) => {
      cuts.push(run);
      return () => {};
    };
    const timers = { ...systemWorld.timers, after };
    await invite();
    const impatient = send(NEVER, createMailer({ timers }, server.terms, SENDER));
    await until('the server has the connection', () => server.open() === 1);
    for (const cut of cuts) cut();
    await impatient;
    assert.equal((await rows())[0]?.problem, 'The server did not finish in time.');
    await until('the connection is closed', () => server.open() === 0);
    await paying.time.advance(2 * 60_000);
    const stop = new AbortController();
    const stopped = send(stop.signal);
    await until('the server has the connection', () => server.open() === 1);
    stop.abort();
    await stopped;
    assert.deepEqual(
      (await rows()).map(({ status, tries }) => [status, tries]),
      [['pending', 2]],
    );
    await until('the connection is closed', () => server.open() === 0);
  });

  it('is tried again when nothing listens', async () => {
    await invite();
    await send(NEVER, createMailer(systemWorld, { ...server.terms, port: 1 }, SENDER));
    assert.match((await rows())[0]?.problem ?? '', /ECONNREFUSED/);
  });

  it('is sent by one node of several, and a result of an old claim is refused', async () => {
    for (let mails = 0; mails < 6; mails += 1) await invite();
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (await send());
      }),
    );
    assert.equal(server.received.length, 6);
    assert.equal(new Set(server.received.flatMap(({ to }) => to)).size, 6);
    await invite();
    // The first node hangs beyond its claim; the second node sends the mail meanwhile.
    server.state.behaviour = 'hang';
    const stop = new AbortController();
    const slow = send(stop.signal);
    await until('the server has the connection', () => server.open() === 1);
    server.state.behaviour = 'accept';
    await paying.time.advance(2 * 60_000);
    await send();
    stop.abort();
    await slow;
    assert.deepEqual([...new Set((await rows()).map(({ status }) => status))], ['sent']);
  });

  it('goes nowhere without the TLS that is asked for, and reveals no password', async () => {
    const secure = { ...server.terms, tls: 'required', user: 'till', password: 'hunter2-hunter2' } as const;
    await invite();
    const before = server.commands.length;
    await send(NEVER, createMailer(systemWorld, secure, SENDER));
    assert.equal(server.received.length, 0);
    assert.deepEqual(server.commands.slice(before), [], 'neither a password nor a sender was sent');
    const picky = await startMailServer({
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
    });
    await paying.time.advance(2 * 60_000);
    await send(NEVER, createMailer(systemWorld, { ...picky.terms, user: 'till', password: secure.password }, SENDER));
    assert.deepEqual(picky.commands, ['AUTH']);
    assert.match((await rows())[0]?.problem ?? '', /EAUTH/);
    assert.equal(`${lines.join('')}${JSON.stringify(await rows())}`.includes(secure.password), false);
    await picky.stop();
  });

  it('notifies operators once that an alert is raised, and once that it is over, within a limit of the hour', async () => {
    const recipients = ['ops@example.com', 'oncall@example.com'];
    const terms = { recipients, publicUrl: 'https://till.example' };
    const alert = {
      name: 'job_failing',
      subject: 'prune',
      message: 'Job prune failed.\r\nBcc: x@example.com',
    } as const;
    await raiseAlert(paying.gateway, alert);
    for (let round = 0; round < 3; round += 1) await mailAlerts(paying.gateway, terms);
    await Promise.all([mailAlerts(paying.gateway, terms), raiseAlert(paying.gateway, alert)]);
    while (await send());
    assert.deepEqual(server.received.map(({ to }) => to[0]).toSorted(), recipients.toSorted());
    assert.equal(headerText(server.received[0]?.headers.get('subject')), '[Till] Alert: job_failing (prune)');
    assert.ok(server.received[0]?.text.startsWith('Job prune failed. Bcc: x@example.com\r\n'));
    await clearAlert(paying.gateway, alert);
    for (let round = 0; round < 2; round += 1) await mailAlerts(paying.gateway, terms);
    while (await send());
    assert.equal(server.received.length, 4);
    assert.equal(headerText(server.received[3]?.headers.get('subject')), '[Till] Over: job_failing (prune)');

    for (let job = 0; job < 30; job += 1) await raiseAlert(paying.gateway, { ...alert, subject: `job ${job}` });
    const mailed = async () => Number((await rows()).length) / recipients.length;
    await mailAlerts(paying.gateway, terms);
    await mailAlerts(paying.gateway, terms);
    assert.equal(await mailed(), ALERT_MAILS_PER_HOUR);
    // Alerts that end before their mail was queued get none.
    await clearAlert(paying.gateway, { name: 'job_failing', subject: 'job 29' });
    await paying.time.advance(HOUR_MS);
    await mailAlerts(paying.gateway, terms);
    assert.equal(await mailed(), 2 + 29);
    assert.match(JSON.stringify(await rows()), /"waiting":12/);
  });

  it('forgets a payer: addresses and the names of wallets go, the account in payments and receipts stays', async () => {
    const { gateway, shop } = paying;
    const id = await paid();
    const [item] = await paying.items(id);
    const receipt = async () =>
      (await gateway.call({ url: `/v1/payments/${id}/receipt`, headers: shop.headers })).json();
    const before = await receipt();
    await command(
      gateway,
      (tx) => tx`update payments set buyer_name = 'Fox', buyer_account = ${item?.account ?? ''} where id = ${id}`,
    );
    await ask(id, 'payer@example.com');
    await ask(await paid(), 'Payer@example.com');
    assert.equal((await rows()).length, 2);
    const payer = { network: item?.network ?? '', address: item?.payer ?? '' };
    const erased = await eraseAccount(gateway, { payer, actor: 'operator' });
    assert.deepEqual(erased, { payments: 1, walletNames: 2, receiptMails: 1, pastFailures: 0 });
    const { buyer_name, buyer_account } = await paying.payment(id);
    assert.deepEqual([buyer_name, buyer_account], ['Wallet', item?.account]);
    assert.deepEqual(await receipt(), before);
    assert.equal(
      (await eraseAccount(gateway, { payer, actor: 'operator' })).walletNames,
      0,
      'a second run finds nothing',
    );
    assert.equal(await eraseEmail(gateway, { email: 'PAYER@example.com', actor: 'operator' }), 1);
    assert.equal((await rows()).length, 0);
    const entries = await listAudit(gateway.db.sql, { action: 'payer.erased', limit: 10 });
    assert.equal(entries.length, 3);
    assert.doesNotMatch(JSON.stringify(entries), /payer@example/i);
  });

  it('forgets a payer who sent money to a deposit address, in every spelling of the account', async () => {
    const { gateway } = paying;
    const id = await paying.created();
    assert.equal((await paying.wallet.post(id, 'address', { asset: USDC })).statusCode, 200);
    const network = USDC.slice(0, USDC.indexOf('/'));
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    await command(gateway, async (tx) => {
      await tx`
        insert into movements (network, transaction_hash, log_index, block_number, block_hash, at, commitment, payment_id,
          asset, sender, amount, is_screened)
        select network, '0x01', 0, 1, '0x02', now(), commitment, payment_id, asset, ${address.toLowerCase()}, 1, false
        from deposits where payment_id = ${id}`;
      await tx`update items set buyer_name = 'Fox' where subject = ${id}`;
      await tx`
        update payments set buyer_name = 'Fox', buyer_account = ${`${network}:${address}`} where id = ${id}`;
      await tx`
        insert into mails (id, kind, recipient, language, subject, key, created_at, until, status, ended_at)
        values ('mail_1', 'receipt', 'payer@example.com', 'en', ${id}, 'receipt', now(), now(), 'sent', now())`;
    });
    const erased = await eraseAccount(gateway, { payer: { network, address }, actor: 'operator' });
    assert.deepEqual(erased, { payments: 1, walletNames: 2, receiptMails: 1, pastFailures: 0 });
    assert.equal((await paying.payment(id)).buyer_name, 'Wallet');
  });

  it('comes to an end without a node that sends, and is forgotten after the days of its setting', async () => {
    await invite();
    await maintainMails(paying.gateway, { keptDays: 30 });
    assert.equal((await rows())[0]?.status, 'pending');
    await paying.time.advance(DAY_MS + HOUR_MS);
    await maintainMails(paying.gateway, { keptDays: 30 });
    const [row] = await rows();
    assert.deepEqual([row?.status, row?.problem, row?.wrapped_link], ['failed', 'No node sends mail.', null]);
    await paying.time.advance(30 * DAY_MS + HOUR_MS);
    await maintainMails(paying.gateway, { keptDays: 30 });
    assert.equal((await rows()).length, 0);
  });
});
