import { Fill } from '../shared/fill.tsx';
import { FlaskGlyph } from '../shared/glyphs.tsx';
import { PageMessage } from '../shared/page-message.tsx';
import { clamp, fill, initialsOf } from '../shared/text.ts';
import type { PaperSize, ReceiptPage, ReceiptPageState, Row, Section, Sheet } from './page-state.ts';
import { sheetOf } from './receipt-sheet.ts';
import type { ReceiptWords } from './receipt-words.ts';

interface Props<State> {
  readonly state: State;
  readonly words: ReceiptWords;
}

const MESSAGES = {
  not_found: ['notFoundTitle', 'notFoundText'],
  unavailable: ['troubleTitle', 'troubleText'],
  busy: ['busyTitle', 'busyText'],
} as const satisfies Record<
  Exclude<ReceiptPageState['kind'], 'receipt'>,
  readonly [keyof ReceiptWords, keyof ReceiptWords]
>;

/** The document's title, which browsers propose as the file name of a print. */
export function titleOf(state: ReceiptPageState, words: ReceiptWords): string {
  if (state.kind !== 'receipt') return words[MESSAGES[state.kind][0]];
  return fill(words.titleOf, { merchant: clamp(state.merchant.name, 64) });
}

export function ReceiptView({ state, words }: Props<ReceiptPageState>) {
  const hidesPoweredBy = state.kind === 'receipt' && state.hidesPoweredBy;
  return (
    <div className="page slip-page">
      {state.kind === 'receipt' ? <Receipt state={state} words={words} /> : <Message state={state} words={words} />}
      <footer className="foot">
        {!hidesPoweredBy && <Fill text={words.poweredBy} name={<strong>Till</strong>} />}
      </footer>
    </div>
  );
}

function Receipt({ state, words }: Props<ReceiptPage>) {
  const sheet = sheetOf(state, words);
  return (
    <main className="slip">
      <Files state={state} words={words} />
      <article className="slip-sheet" aria-labelledby="slip-title">
        <Head state={state} sheet={sheet} />
        {sheet.warning !== null && (
          <p className="slip-warning">
            <FlaskGlyph />
            {sheet.warning}
          </p>
        )}
        {sheet.sections.map((section, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the sections of a receipt never change places
          <Part key={index} section={section} />
        ))}
        {state.proof !== null && (
          <p className="slip-links">
            <a href={state.proof.receiptUrl}>{words.signedReceipt}</a>
            <a href={state.proof.scriptUrl}>{words.script}</a>
          </p>
        )}
      </article>
    </main>
  );
}

/** Links to the PDF files. They are hidden in print. */
function Files({ state, words }: Props<ReceiptPage>) {
  const sizes: readonly PaperSize[] = ['a4', 'letter', 'roll'];
  return (
    <nav className="slip-files" aria-label={words.files}>
      <a href={state.checkoutUrl}>{words.backToPayment}</a>
      <ul>
        {sizes.map((size) => (
          <li key={size}>
            <a href={`${state.url}.pdf?size=${size}&lang=${state.locale}`}>
              <Fill text={words.pdf} size={words[size]} />
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Head({ state: { merchant }, sheet }: { readonly state: ReceiptPage; readonly sheet: Sheet }) {
  return (
    <header className="slip-head">
      <div className="merchant">
        <span className="logo" aria-hidden="true">
          {merchant.iconUrl === null ? (
            <span className="initials">{initialsOf(merchant.name) || '·'}</span>
          ) : (
            <img src={merchant.iconUrl} alt="" />
          )}
        </span>
        <bdi className="merchant-name">{sheet.shop}</bdi>
      </div>
      <h1 className="title" id="slip-title">
        {sheet.title}
      </h1>
      <p className="slip-total">{sheet.total}</p>
    </header>
  );
}

function Part({ section: { title, text, rows, commands } }: { readonly section: Section }) {
  return (
    <section className="slip-part">
      {title !== null && <h2>{title}</h2>}
      {text !== undefined && <p className="text">{text}</p>}
      {commands !== undefined && (
        <pre className="slip-commands" dir="ltr">
          <code>{commands.join('\n')}</code>
        </pre>
      )}
      <dl>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a receipt never change places
          <Line key={index} row={row} />
        ))}
      </dl>
    </section>
  );
}

function Line({ row: { label, value, isCode = false, isTotal = false, href } }: { readonly row: Row }) {
  const text = isCode ? (
    <code className="slip-code" dir="ltr">
      {value}
    </code>
  ) : (
    value
  );
  return (
    <div className={isTotal ? 'slip-row slip-row-total' : isCode ? 'slip-row slip-row-code' : 'slip-row'}>
      <dt>{label}</dt>
      <dd>{href == null ? text : <a href={href}>{text}</a>}</dd>
    </div>
  );
}

function Message({ state, words }: Props<Exclude<ReceiptPageState, ReceiptPage>>) {
  const [title, text] = MESSAGES[state.kind];
  return <PageMessage page="slip" title={words[title]} text={words[text]} />;
}
