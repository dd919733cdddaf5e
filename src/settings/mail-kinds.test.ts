import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REGISTRY } from '../../test/registry.ts';
import { Problem } from './kinds.ts';
import { mailAddresses, mailSender, smtpUrl } from './mail-kinds.ts';
import { readConfig } from './read-config.ts';
import { secretValues } from './secret-values.ts';

describe('settings of mail', () => {
  it('ask for TLS on the way to other hosts', () => {
    const tlsOf = (url: string) => {
      const read = smtpUrl().parse(url, REGISTRY);
      return read instanceof Problem ? read.text : [read.host, read.port, read.tls];
    };
    assert.deepEqual(tlsOf('smtp://mail.example.com'), ['mail.example.com', 587, 'required']);
    assert.deepEqual(tlsOf('smtp://10.0.0.7:25?tls=optional'), ['10.0.0.7', 25, 'optional']);
    assert.deepEqual(tlsOf('smtps://mail.example.com'), ['mail.example.com', 465, 'implicit']);
    for (const host of ['localhost', '127.0.0.1', '[::1]']) assert.equal(tlsOf(`smtp://${host}:1025`)[2], 'none');
    assert.deepEqual(tlsOf('smtp://127.0.0.1.evil.example')[2], 'required');
    for (const wrong of [
      '',
      'mail.example.com',
      'http://mail.example.com',
      'smtp://',
      'smtp://h/path',
      'smtp://h?x=1',
      'smtp://%ff:a@h',
    ]) {
      assert.match(String(tlsOf(wrong)), /^must be a URL/, wrong);
    }
    assert.match(String(tlsOf('smtp://h?tls=none')), /required or optional/);
  });

  it('take addresses that are safe in a header', () => {
    assert.deepEqual(mailSender().parse('Till <till@example.com>', REGISTRY), {
      name: 'Till',
      address: 'till@example.com',
    });
    assert.deepEqual(mailSender().parse('till@example.com', REGISTRY), { name: '', address: 'till@example.com' });
    for (const wrong of [
      'Till',
      'a@b@c',
      'Till <a b@example.com>',
      'x <a@example.com>\r\nBcc: b@example.com',
      '"a" <a@example.com>',
    ]) {
      assert.ok(mailSender().parse(wrong, REGISTRY) instanceof Problem, wrong);
    }
    assert.deepEqual(mailAddresses().parse('a@example.com, b@localhost', REGISTRY), ['a@example.com', 'b@localhost']);
    assert.ok(mailAddresses().parse('a@example.com; b@example.com', REGISTRY) instanceof Problem);
    assert.ok(mailAddresses().parse(Array(11).fill('a@example.com').join(','), REGISTRY) instanceof Problem);
  });

  it('contradict each other in part, and keep the password out of the log', () => {
    const problemsOf = (environment: Record<string, string>) => {
      const read = readConfig(environment);
      return 'problems' in read ? read.problems : [];
    };
    assert.match(problemsOf({ SMTP_URL: 'smtp://h' }).join(), /MAIL_FROM must be set/);
    assert.match(problemsOf({ ALERT_EMAILS: 'a@example.com' }).join(), /SMTP_URL is not/);
    const read = readConfig({ SMTP_URL: 'smtp://till:p%40ssword1@h', MAIL_FROM: 'till@example.com' });
    assert.ok('config' in read);
    for (const secret of ['p%40ssword1', 'p@ssword1']) assert.ok(secretValues(read.config).includes(secret), secret);
    assert.doesNotMatch(problemsOf({ SMTP_URL: 'ftp://till:hunter2@h' }).join(), /hunter2/);
  });
});
