import { useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { ShieldGlyph } from '../../shared/glyphs.tsx';
import { fill, shortAccount } from '../../shared/text.ts';
import type { GatewayOption } from '../api.ts';
import { type Flow, isNative, needsSetup, type Session, type Step } from '../flow-state.ts';
import type { Strings } from '../strings/en.ts';
import type { Actions } from './actions.ts';
import { CancelPayment } from './cancel-payment.tsx';
import { StepTitle } from './moment.tsx';
import { Money } from './money-text.tsx';
import { NoticeBox } from './notice.tsx';
import { TokenPicture, WalletPicture } from './pictures.tsx';
import { RateNote } from './rate-note.tsx';
import { useWords } from './words.ts';

interface ChoosingProps {
  readonly flow: Flow;
  readonly step: Extract<Step, { at: 'choosing' }>;
  readonly actions: Actions;
}

/**
 * The number of options shown at first. If there is exactly one more option, it is shown, too, because the button "show more" would
 * take as much room.
 */
const SHOWN = 3;

export function Choosing({ flow, step, actions }: ChoosingProps) {
  const { strings } = useWords();
  const { options, option } = step;
  const [isWhole, setWhole] = useState(options.indexOf(option) >= SHOWN);
  const shown = isWhole || options.length <= SHOWN + 1 ? options : options.slice(0, SHOWN);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        actions.pay();
      }}
    >
      <header className="head head-row">
        <StepTitle>{strings.choosingTitle}</StepTitle>
        <SessionChip session={step.session} onChange={actions.back} />
      </header>
      <NoticeBox flow={flow} />
      <fieldset className="options" aria-labelledby="step-title">
        {shown.map((each) => (
          <OptionRow
            key={each.id}
            option={each}
            isBest={each === options[0] && options.length > 1}
            isChosen={each === option}
            onChoose={() => actions.choose(each.id)}
          />
        ))}
      </fieldset>
      {shown.length < options.length && (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          {fill(strings.showMore, { count: String(options.length - shown.length) })}
        </button>
      )}
      <RateNote price={flow.payment.amount} option={option} />
      <div className="closing">
        <button type="submit" className="button button-main" disabled={flow.isCancelling}>
          <span>
            <Fill text={strings.payButton} amount={<Money amount={option.amount} />} />
          </span>
        </button>
        <p className="small secure">
          <ShieldGlyph />
          {strings.secureNote}
        </p>
        <CancelPayment flow={flow} actions={actions} />
      </div>
    </form>
  );
}

interface OptionRowProps {
  readonly option: GatewayOption;
  readonly isBest: boolean;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function OptionRow({ option, isBest, isChosen, onChoose }: OptionRowProps) {
  const { strings } = useWords();
  const { amount } = option;
  const { assetSymbol, networkName } = amount.display;
  return (
    <label className="row option">
      <input type="radio" name="option" className="unseen" checked={isChosen} onChange={onChoose} />
      <TokenPicture amount={amount} />
      <span className="row-main">
        <span className="row-title">
          <bdi>{assetSymbol}</bdi> {isBest && <span className="tag">{strings.bestForYou}</span>}
        </span>
        {networkName != null && (
          <span className="row-text">
            <Fill text={strings.onNetwork} network={networkName} />
          </span>
        )}
      </span>
      <span className="row-end">
        <Money amount={amount} />
        <span className="row-text">{feeText(option, strings)}</span>
      </span>
    </label>
  );
}

function feeText(option: GatewayOption, strings: Strings): string {
  if (isNative(option)) return strings.plusFee;
  return needsSetup(option) ? strings.setupFirst : strings.noFee;
}

function SessionChip({ session, onChange }: { readonly session: Session; readonly onChange: () => void }) {
  const { strings } = useWords();
  return (
    <span className="session">
      <WalletPicture wallet={session.wallet} />
      <span className="unseen">{strings.account} </span>
      <span className="session-account" dir="ltr">
        {shortAccount(session.account)}
      </span>
      <button type="button" className="quiet" onClick={onChange}>
        {strings.changeWallet}
      </button>
    </span>
  );
}
