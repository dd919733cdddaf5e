import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LANGUAGES, type ReceiptContent } from '../domain/mail.ts';
import { letterOf } from './letter.ts';
import { plainText, unlinkedText } from './plain-text.ts';

const amount = (value: string, decimals = 2, symbol = 'EUR') => ({ value, decimals, symbol });
const RECEIPT: ReceiptContent = {
  kind: 'receipt',
  merchant: 'Kiosk',
  reference: 'ORDER-1',
  description: null,
  lineItems: [],
  price: amount('123456789012345678901234567890'),
  paid: amount('1', 18, 'ETH'),
  network: 'Base',
  account: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  paidAt: '2026-02-18T09:30:00.000Z',
  transaction: `0x${'ab'.repeat(32)}`,
  explorerUrl: null,
  commitment: `0x${'cd'.repeat(32)}`,
  refunds: [{ amount: amount('500'), transaction: `0x${'ef'.repeat(32)}` }],
  pageUrl: 'https://till.example/c/1',
  isTest: false,
};

describe('a letter', () => {
  it('says exact amounts in each language, and names every refund', () => {
    for (const language of LANGUAGES) {
      const { text, html, subject } = letterOf({ content: RECEIPT, language, link: undefined });
      assert.equal(text.replace(/\D/g, '').includes('123456789012345678901234567890'), true, text);
      assert.match(text, /0[.,]0{17}1 ETH/, language);
      assert.ok(text.includes('efef') && html.includes('efef') && subject.includes('Kiosk'));
      assert.match(html, language === 'ar' ? /dir="rtl"/ : /dir="ltr"/);
    }
  });

  it('has no link in the words of a merchant', () => {
    const links = [
      'https://evil.example/a',
      'www.evil.example',
      'evil.com',
      'a@evil.example',
      'evil。com',
      'mailto:a@b',
      'tel:+49',
    ];
    const item = (name: string) => ({ name, quantity: null, amount: null });
    const content = {
      ...RECEIPT,
      merchant: 'Pay at evil.com',
      reference: 'www.evil.example',
      description: links.join(' , '),
      lineItems: links.map(item),
    };
    const { subject, text, html } = letterOf({ content, language: 'en', link: undefined });
    for (const part of [subject, text, html].map((each) => each.replaceAll(RECEIPT.pageUrl, ''))) {
      assert.doesNotMatch(part, /evil[.。](example|com)|www\.evil|:\/\/|mailto:a|tel:\+/, part);
    }
    assert.match(text, /Pay at evil\. com/);
    // Hosts may have combining marks and emoji, as may top-level domains.
    for (const host of ['cafe\u0301.com', '💩.la', 'क.भारत', 'a\u0301\u0323.example', '(x).de', '✈️.ws', 'x.e\u0301t']) {
      assert.match(unlinkedText(host, 99), /\. \S+$/, host);
    }
    // A mail program may skip variation selectors, marks and joiners.
    for (const unseen of ['\ufe0f', '\u0301', '\u200d', '\u200c', '\u034f', '\u{e0100}']) {
      for (const host of [`evil.${unseen}com`, `evil.c${unseen}om`, `evil${unseen}.com`]) {
        assert.match(unlinkedText(host, 99), /\. \S+$/, JSON.stringify(host));
      }
      assert.doesNotMatch(unlinkedText(`http:${unseen}//evil`, 99), /:\S/, JSON.stringify(unseen));
    }
    assert.equal(unlinkedText('Menu 1.5 l, Nr.7, at 10:30 and 3.14', 99), 'Menu 1.5 l, Nr.7, at 10:30 and 3.14');
  });

  it('has no link in the name of an invited person', () => {
    for (const kind of ['invitation', 'sign_in_link'] as const) {
      const content = { kind, name: 'Pay at evil.com', site: 'https://till.example', until: RECEIPT.paidAt };
      const { text, html } = letterOf({ content, language: 'en', link: 'https://till.example/dashboard/join#x' });
      for (const part of [text, html]) assert.match(part, /Pay at evil\. com/);
    }
  });

  it('keeps words of strangers in one line, in their place and without markup', () => {
    const hostile =
      'Shop\r\nBcc: x@example.com\u2028<script>alert(1)</script>\u202eevil {amount} {merchant} "\'&\ud800';
    const lineItems = [{ name: hostile, quantity: 2, amount: null }];
    const content = { ...RECEIPT, merchant: hostile, reference: hostile, description: hostile, lineItems };
    const { subject, text, html } = letterOf({ content, language: 'en', link: undefined });
    assert.doesNotMatch(subject, /[\p{Cc}\u2028\u202e]/u);
    assert.doesNotMatch(text, /^Bcc/m);
    assert.doesNotMatch(html, /<script|\u202e/);
    assert.ok(html.includes('{amount} {merchant}'), 'a value is not filled in again');
    assert.ok(`${text}${html}`.isWellFormed());
  });

  it('cuts long names between characters', () => {
    const family = '👩‍👩‍👧‍👦';
    assert.equal(plainText(family.repeat(256), 64), `${family.repeat(64)}…`);
    assert.equal(plainText(`a${'\u0301'.repeat(100_000)}`, 64).length <= 8_001, true);
    assert.equal(plainText(family.repeat(64), 64), family.repeat(64));
  });
});
