import { decimalText } from '../../../../src/domain/money.ts';
import { Fill } from '../../shared/fill.tsx';
import { AlertGlyph, ChevronGlyph, InfoGlyph } from '../../shared/glyphs.tsx';
import { type Amount, withSymbol } from '../../shared/money.ts';
import { qrShape } from '../../shared/qr.ts';
import { addressOf, fill } from '../../shared/text.ts';
import { timeLeft } from '../../shared/time-left.ts';
import type { Deposit } from '../api.ts';
import type { Flow } from '../flow-state.ts';
import type { PaymentPage } from '../page-state.ts';
import type { Actions } from './actions.ts';
import type { Copying } from './copy-button.tsx';
import { Fold } from './fold.tsx';
import { StepTitle } from './moment.tsx';
import { Money } from './money-text.tsx';
import { NoticeBox } from './notice.tsx';
import { TokenPicture } from './pictures.tsx';
import { QrCode } from './qr-code.tsx';
import { useWords, type Words } from './words.ts';

const SHOWN_TOKENS = 4;
/** The number of characters above which a text is set in a small font. */
const LONG = 30;
/** If less time than this remains, the page shows a hint that exchanges often send withdrawals with a delay. */
const SLOW_MS = 30 * 60_000;

interface PickingProps {
  readonly page: PaymentPage;
  readonly flow: Flow;
  readonly actions: Actions;
}

export function Picking({ page, flow, actions }: PickingProps) {
  const { strings } = useWords();
  return (
    <div className="stack">
      <header className="head">
        <StepTitle>{strings.sendAnywhere}</StepTitle>
        <p className="text">{strings.pickText}</p>
      </header>
      <NoticeBox flow={flow} />
      <Fold className="list" shown={SHOWN_TOKENS}>
        {page.sendable.map((amount) => (
          <li key={amount.unit}>
            <TokenRow
              amount={amount}
              isDisabled={flow.isCancelling}
              onPick={() => actions.sendToken(amount.unit.slice('caip19/'.length))}
            />
          </li>
        ))}
      </Fold>
      <p className="aside">
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.back}
        </button>
      </p>
    </div>
  );
}

interface TokenRowProps {
  readonly amount: Amount;
  readonly isDisabled: boolean;
  readonly onPick: () => void;
}

function TokenRow({ amount, isDisabled, onPick }: TokenRowProps) {
  const { strings } = useWords();
  const { assetSymbol, networkName } = amount.display;
  return (
    <button type="button" className="row" onClick={onPick} disabled={isDisabled}>
      <TokenPicture amount={amount} />
      <span className="row-main">
        <bdi className="row-title">{assetSymbol}</bdi>
        <span className="row-text">
          <Fill text={strings.onNetwork} network={networkName ?? ''} />
        </span>
      </span>
      <Money amount={amount} />
      <ChevronGlyph />
    </button>
  );
}

interface TransferProps extends Copying {
  readonly deposit: Deposit;
  readonly nowMs: number;
  readonly actions: Actions;
}

export function Transfer({ deposit, nowMs, copied, actions }: TransferProps) {
  const words = useWords();
  const { strings } = words;
  const missing = missingOf(deposit);
  const { assetSymbol, networkName } = missing.display;
  const isPart = deposit.arrived.value !== '0';
  return (
    <div className="stack">
      <header className="head">
        <StepTitle>
          <Fill text={strings.transferTitle} amount={<bdi>{exactText(missing, words)}</bdi>} />
        </StepTitle>
        <p className={isPart ? 'notice' : 'text'} role="status">
          {isPart && <InfoGlyph />}
          <span>{arrivalText(deposit, words)}</span>
        </p>
      </header>
      <p className="notice notice-warm">
        <AlertGlyph />
        <span>
          <Fill text={strings.transferOnly} token={assetSymbol} network={networkName ?? ''} />
        </span>
      </p>
      <QrCode qr={qrShape(deposit.uri)} label={strings.transferQrLabel} hint={strings.transferQrHint} />
      <Copied
        label={strings.transferAmount}
        shown={exactText(missing, words)}
        text={plainText(missing)}
        name={strings.copyAmount}
        copied={copied}
        actions={actions}
      />
      <Copied
        label={`${strings.transferAddress} · ${networkName ?? ''}`}
        shown={addressOf(deposit.address)}
        text={addressOf(deposit.address)}
        name={strings.copyAddress}
        copied={copied}
        actions={actions}
      />
      <a className="button on-phone" href={deposit.uri}>
        {strings.appWallet}
      </a>
      <p className="small">
        <TimeLeft expiresAt={deposit.expiresAt} nowMs={nowMs} /> {strings.transferFees}
      </p>
      <p className="aside">
        <button type="button" className="quiet" onClick={actions.back}>
          {strings.back}
        </button>
      </p>
    </div>
  );
}

interface CopiedProps extends Copying {
  readonly label: string;
  readonly shown: string;
  readonly text: string;
  readonly name: string;
}

/** A text that is shown whole, because it must be copied exactly. */
function Copied({ label, shown, text, name, copied, actions }: CopiedProps) {
  const { strings } = useWords();
  return (
    <div className="link">
      <span className="link-label">{label}</span>
      <bdi className={`link-url link-whole ${shown.length > LONG ? 'link-long' : ''}`} dir="ltr">
        {shown}
      </bdi>
      <button type="button" className="button button-small" onClick={() => actions.copy(text)}>
        {copied === text ? strings.copied : name}
      </button>
    </div>
  );
}

function TimeLeft({ expiresAt, nowMs }: { readonly expiresAt: number; readonly nowMs: number }) {
  const { strings, locale } = useWords();
  const isShort = expiresAt * 1000 - nowMs < SLOW_MS;
  return (
    <span suppressHydrationWarning>
      <Fill text={strings.transferWithin} time={timeLeft(expiresAt, nowMs, locale).text} />{' '}
      {isShort && strings.slowExchange}
    </span>
  );
}

function arrivalText(deposit: Deposit, words: Words): string {
  const { strings } = words;
  if (deposit.arrived.value === '0') return strings.transferWaiting;
  const [arrived, amount, missing] = [deposit.arrived, deposit.amount, missingOf(deposit)].map((each) =>
    exactText(each, words),
  ) as [string, string, string];
  return fill(strings.transferPart, { arrived, amount, missing });
}

function missingOf({ amount, arrived }: Deposit): Amount {
  return { ...amount, value: String(BigInt(amount.value) - BigInt(arrived.value)) };
}

/** The amount, never rounded, because a smaller amount would not pay. */
function exactText({ value, display }: Amount, words: Words): string {
  return withSymbol(decimalText(value, display.decimals), display.assetSymbol, words);
}

/** The amount in the form that wallets and exchanges accept: digits and a point, without trailing zeros. */
function plainText({ value, display }: Amount): string {
  const text = decimalText(value, display.decimals);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
