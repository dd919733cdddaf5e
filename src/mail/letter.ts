import { escapeHtml } from '../domain/escape-html.ts';
import { returnTextOf } from '../domain/late-money.ts';
import { latinDigits } from '../domain/latin-digits.ts';
import type { AlertContent, Language, MailContent, MailedAmount, ReceiptContent } from '../domain/mail.ts';
import { decimalText } from '../domain/money.ts';
import { plainText, unlinkedText } from './plain-text.ts';
import type { Words } from './words/en.ts';
import { WORDS } from './words/words.ts';

/** A mail. Text and HTML have the same content. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface LetterInput {
  readonly content: MailContent;
  readonly language: Language;
  /** The one-time link to sign in. Undefined for mails of other kinds. */
  readonly link: string | undefined;
}

type Block =
  | { readonly paragraph: string }
  | { readonly link: string }
  | { readonly title: string; readonly rows: readonly (readonly [label: string, value: string])[] };

export function letterOf({ content, language, link }: LetterInput): Letter {
  const words = WORDS[language];
  switch (content.kind) {
    case 'invitation':
    case 'sign_in_link': {
      const isNew = content.kind === 'invitation';
      const site = plainText(content.site, 100);
      const values = { name: unlinkedText(content.name, 60), site, time: timeText(language, content.until) };
      return compose(language, fill(isNew ? words.invitationSubject : words.linkSubject, { site }), [
        { paragraph: fill(words.greeting, values) },
        { paragraph: fill(isNew ? words.invitationText : words.linkText, values) },
        { link: link ?? content.site },
        { paragraph: words.linkOnce },
        { paragraph: words.unexpected },
      ]);
    }
    case 'alert_raised':
    case 'alert_cleared':
      return alertLetter(content);
    case 'receipt':
      return receiptLetter(content, { language, words });
  }
}

/** The mail about an alert. It is in English like the documentation, because alerts are for operators. */
function alertLetter({ kind, name, about, message, site, at, waiting }: AlertContent): Letter {
  const isRaised = kind === 'alert_raised';
  const subject = plainText(about, 80);
  return compose('en', `[Till] ${isRaised ? 'Alert' : 'Over'}: ${name} (${subject})`, [
    { paragraph: plainText(message, 2_000) },
    {
      title: '',
      rows: [
        ['Alert', name],
        ['About', subject],
        [isRaised ? 'Since' : 'Over since', at],
        ['Gateway', plainText(site, 200)],
        ['What to do', `docs/operating.md#alert-${name}`],
      ],
    },
    ...(waiting > 0
      ? [
          {
            paragraph: `${waiting} more wait for a mail: the mails of this hour are used up. \`till alerts list\` shows all of them.`,
          },
        ]
      : []),
  ]);
}

function receiptLetter(receipt: ReceiptContent, { language, words }: { language: Language; words: Words }): Letter {
  const merchant = unlinkedText(receipt.merchant, 64);
  const amount = (each: MailedAmount) => localizedAmount(language, each);
  const { price, paid, refunds, lateMoney = [], explorerUrl, lineItems, description, commitment, network } = receipt;
  const blocks: Block[] = [
    ...(receipt.isTest ? [{ paragraph: words.testPayment }] : []),
    { paragraph: fill(words.receiptText, { merchant, amount: amount(price) }) },
    {
      title: '',
      rows: [
        ...(receipt.reference === '' ? [] : [[words.reference, unlinkedText(receipt.reference, 80)] as const]),
        [words.date, timeText(language, receipt.paidAt)],
        [words.paidWith, amount(paid)],
        [words.network, receipt.network],
        [words.account, receipt.account],
        [words.transaction, receipt.transaction],
      ],
    },
    ...(description === null ? [] : [{ paragraph: unlinkedText(description, 500) }]),
  ];
  if (lineItems.length > 0) {
    const rows = lineItems.map(
      (item) =>
        [
          `${item.quantity === null ? '' : `${item.quantity} × `}${unlinkedText(item.name, 100)}`,
          item.amount === null ? '' : amount(item.amount),
        ] as const,
    );
    blocks.push({ title: words.items, rows });
  }
  if (refunds.length > 0) {
    blocks.push({ title: words.refunds, rows: refunds.map((refund) => [amount(refund.amount), refund.transaction]) });
  }
  if (lateMoney.length > 0) {
    const rows = lateMoney.map((money) => [words[money.reason], amount(money.amount)] as const);
    const text = words[returnTextOf(lateMoney.map(({ status = 'unclaimed' }) => status))];
    blocks.push({ title: words.lateMoney, rows }, { paragraph: fill(text, { merchant }) });
  }
  blocks.push(
    { paragraph: words.pageLink },
    { link: receipt.pageUrl },
    ...(commitment === null ? [] : [{ paragraph: fill(words.verify, { network, amount: amount(paid), commitment }) }]),
    ...(explorerUrl === null ? [] : [{ link: explorerUrl }]),
    { paragraph: words.receiptUnexpected },
  );
  return compose(language, fill(words.receiptSubject, { merchant }), blocks);
}

function compose(language: Language, subject: string, blocks: readonly Block[]): Letter {
  const direction = language === 'ar' ? 'rtl' : 'ltr';
  const body = blocks.map(htmlOf).join('\n');
  return {
    subject,
    text: `${blocks.map(textOf).join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="${language}" dir="${direction}">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em; margin: 1em auto; padding: 0 1em">
${body}
</body>
</html>
`,
  };
}

function textOf(block: Block): string {
  if ('paragraph' in block) return block.paragraph;
  if ('link' in block) return block.link;
  const rows = block.rows.map(([label, value]) => (value === '' ? label : `${label}: ${value}`));
  return [...(block.title === '' ? [] : [block.title]), ...rows].join('\n');
}

const CELL = 'padding: 0.2em 1em 0.2em 0; text-align: start; vertical-align: top; overflow-wrap: anywhere';

function htmlOf(block: Block): string {
  if ('paragraph' in block) return `<p><bdi>${escapeHtml(block.paragraph)}</bdi></p>`;
  if ('link' in block) return `<p><a href="${escapeHtml(block.link)}">${escapeHtml(block.link)}</a></p>`;
  const rows = block.rows.map(
    ([label, value]) =>
      `<tr><th scope="row" style="${CELL}; font-weight: normal"><bdi>${escapeHtml(label)}</bdi></th><td style="${CELL}"><bdi>${escapeHtml(value)}</bdi></td></tr>`,
  );
  const title = block.title === '' ? '' : `<h2 style="font-size: 1em">${escapeHtml(block.title)}</h2>\n`;
  return `${title}<table style="border-collapse: collapse">${rows.join('')}</table>`;
}

/**
 * Replaces each `{name}` of a text by its value. All names are replaced in one pass, so that a value that contains `{name}` is not
 * replaced again.
 */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** An amount in the notation of a language. The formatter gets the decimal as text, because a float would lose digits. */
function localizedAmount(language: Language, { value, decimals, symbol }: MailedAmount): string {
  const number = new Intl.NumberFormat(latinDigits(language), {
    minimumFractionDigits: Math.min(2, decimals),
    maximumFractionDigits: decimals,
  });
  return `${number.format(decimalText(value, decimals) as Intl.StringNumericLiteral)} ${symbol}`;
}

function timeText(language: Language, iso: string): string {
  const time = new Intl.DateTimeFormat(latinDigits(language), {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  return `${time.format(new Date(iso))} UTC`;
}
