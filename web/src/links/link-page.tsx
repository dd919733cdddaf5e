import type { Strings as CheckoutStrings } from '../checkout/strings/en.ts';
import { Fill } from '../shared/fill.tsx';
import { FlaskGlyph } from '../shared/glyphs.tsx';
import { type Amount, formatAmount } from '../shared/money.ts';
import { PageMessage } from '../shared/page-message.tsx';
import { clamp, fill, initialsOf } from '../shared/text.ts';
import type { LinkPageState } from './page-state.ts';
import type { Strings } from './strings/en.ts';

/** The texts of the pages of payment links, and the texts that these pages share with the checkout. */
export type LinkWords = Omit<CheckoutStrings, keyof Strings> & Strings;

type Link = Extract<LinkPageState, { kind: 'link' }>;

interface Props<State> {
  readonly state: State;
  readonly words: LinkWords;
}

const MAX_DESCRIPTION_CHARS = 500;

/** The page of a payment link: a form in the look of the checkout, which works without a script. */
export function LinkPage({ state, words }: Props<LinkPageState>) {
  const { isSandbox = false, hidesPoweredBy = false } = state.kind === 'link' ? state : {};
  return (
    <div className="page">
      <header className="bars">
        {isSandbox && (
          <p className="sandbox">
            <FlaskGlyph />
            <span>
              <strong>{words.sandboxTag}</strong> <span className="sandbox-note">{words.sandboxNote}</span>
            </span>
          </p>
        )}
      </header>
      {state.kind === 'link' ? <OpenLink state={state} words={words} /> : <Message state={state} words={words} />}
      <footer className="foot">
        {!hidesPoweredBy && <Fill text={words.poweredBy} name={<strong>Till</strong>} />}
      </footer>
    </div>
  );
}

function OpenLink({ state, words }: Props<Link>) {
  const { merchant, amount, pictureUrl } = state;
  const name = clamp(merchant.name, 64);
  return (
    <main className="sheet">
      <div className="summary">
        <div className="merchant">
          <span className="logo" aria-hidden="true">
            {merchant.iconUrl === null ? (
              <span className="initials">{initialsOf(name) || '·'}</span>
            ) : (
              <img src={merchant.iconUrl} alt="" />
            )}
          </span>
          <bdi className="merchant-name">{name}</bdi>
        </div>
        {amount !== null && <p className="amount">{formatAmount(amount, state)}</p>}
      </div>
      <section className="panel link-panel" aria-labelledby="link-title">
        <div className="step stack">
          {pictureUrl !== null && <img className="link-picture" src={pictureUrl} alt="" />}
          <h1 className="title link-title" id="link-title">
            <bdi>{clamp(state.description, MAX_DESCRIPTION_CHARS)}</bdi>
          </h1>
          {state.closed === null ? <Order state={state} words={words} /> : <Closed state={state} words={words} />}
        </div>
      </section>
    </main>
  );
}

function Order({ state, words }: Props<Link>) {
  const { amount, minimum, left, form } = state;
  return (
    <form className="stack" method="post" action={form.action}>
      <input type="hidden" name="once" value={form.once} />
      {left !== null && (
        <p className="small">
          <Fill text={words.left} count={left} />
        </p>
      )}
      {minimum !== null && <AmountField state={state} words={words} />}
      <button type="submit" className="button button-main">
        {amount === null ? words.continueTo : <Fill text={words.payButton} amount={formatAmount(amount, state)} />}
      </button>
      <p className="small">{words.note}</p>
    </form>
  );
}

function AmountField({ state, words }: Props<Link>) {
  const { minimum, maximum, form } = state;
  const text = (bound: Amount | null) => (bound === null ? '' : formatAmount(bound, state));
  const isRefused = form.refused !== null;
  return (
    <div className="link-field">
      <label htmlFor="amount">
        <Fill text={words.amountLabel} currency={minimum?.display.assetSymbol} />
      </label>
      <input
        id="amount"
        name="amount"
        className="link-amount"
        inputMode="decimal"
        autoComplete="off"
        required
        maxLength={40}
        defaultValue={form.refused ?? ''}
        aria-describedby="bounds"
        aria-invalid={isRefused}
      />
      <p id="bounds" className={isRefused ? 'link-problem' : 'small'} role={isRefused ? 'alert' : undefined}>
        <Fill text={isRefused ? words.badAmount : words.bounds} minimum={text(minimum)} maximum={text(maximum)} />
      </p>
    </div>
  );
}

const CLOSED = {
  sold_out: ['soldOutTitle', 'soldOutText'],
  expired: ['expiredTitle', 'closedText'],
  inactive: ['inactiveTitle', 'closedText'],
  merchant: ['merchantTitle', 'merchantText'],
} as const satisfies Record<NonNullable<Link['closed']>, readonly [keyof Strings, keyof Strings]>;

function Closed({ state, words }: Props<Link>) {
  const [title, text] = CLOSED[state.closed ?? 'inactive'];
  return (
    <div className="link-closed" role="status">
      <p className="link-closed-title">{words[title]}</p>
      <p className="text">{words[text]}</p>
    </div>
  );
}

const MESSAGES = {
  not_found: ['notFoundTitle', 'notFoundText'],
  busy: ['busyTitle', 'busyText'],
  unavailable: ['unavailableTitle', 'unavailableText'],
} as const satisfies Record<Exclude<LinkPageState['kind'], 'link'>, readonly [keyof Strings, keyof Strings]>;

export function titleOf(state: LinkPageState, words: LinkWords): string {
  if (state.kind !== 'link') return words[MESSAGES[state.kind][0]];
  return fill(words.payMerchant, { merchant: clamp(state.merchant.name, 64) });
}

function Message({ state, words }: Props<Exclude<LinkPageState, Link>>) {
  const [title, text] = MESSAGES[state.kind];
  return <PageMessage page="link" title={words[title]} text={words[text]} />;
}
