import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMailable, MAIL_TRIED_FOR_MS, MAIL_WAITS_MS } from './mail.ts';

describe('a mail address', () => {
  it('is safe in a header and in a command of SMTP', () => {
    const [local, label] = ['l'.repeat(64), 'd'.repeat(63)];
    const right = [
      'a@b',
      'a@ab.example',
      'ann.bee+tag@shop.example',
      `${local}@shop.example`,
      `a@${label}.example`,
      "o'hara@x-y.example",
    ];
    for (const address of right) assert.ok(isMailable(address), address);
    const wrong = [
      ...['', '@', 'a@', '@b', 'a', 'a@b@c', 'a b@c', 'a@b c', 'a@b\r\nBcc: x@y', 'a\n@b', 'a@b\n', ' a@b', 'a@b '],
      ...[
        '"a"@b',
        'a,b@c',
        '<a@b>',
        'a@[1.2.3.4]',
        'a;b@c',
        'é@b',
        'a@bücher.example',
        'a@-b',
        'a@b-',
        'a@b..c',
        'a@.b',
      ],
      ...['a@b.', `${local}l@shop.example`, `a@${label}dd.example`, `a@x.${label}dd`, 'a@b_c'],
    ];
    for (const address of wrong) assert.ok(!isMailable(address), JSON.stringify(address));
  });

  it('has at most 254 characters', () => {
    const domain = (length: number) =>
      `${'d.'.repeat(200)}`
        .slice(0, length - 1)
        .replace(/\.?$/, 'x')
        .concat('e');
    const of = (length: number) => `a@${domain(length - 2).slice(0, length - 2)}`;
    assert.equal(of(254).length, 254);
    assert.ok(isMailable(of(254)));
    assert.equal(of(255).length, 255);
    assert.ok(!isMailable(of(255)));
  });
});

describe('a mail that fails', () => {
  it('is tried less and less often, for a day', () => {
    const minutes = MAIL_WAITS_MS.map((ms) => ms / 60_000);
    assert.deepEqual(minutes, [1, 5, 15, 60, 120, 240, 480]);
    assert.equal(MAIL_TRIED_FOR_MS, 86_400_000);
  });
});
