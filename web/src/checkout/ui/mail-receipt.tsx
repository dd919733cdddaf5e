import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { Fill } from '../../shared/fill.tsx';
import { clamp } from '../../shared/text.ts';
import type { Actions } from './actions.ts';
import { useWords } from './words.ts';

type Stage = 'offered' | 'asking' | 'sending' | 'sent' | 'failed';

/** Sends a receipt to an address that the payer enters. The page does not leave for the shop meanwhile. */
export function MailReceipt({ actions }: { readonly actions: Pick<Actions, 'mailReceipt' | 'stay'> }) {
  const { strings } = useWords();
  const [stage, setStage] = useState<Stage>('offered');
  const [email, setEmail] = useState('');
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const isOpen = stage !== 'offered';
  useEffect(() => {
    if (isOpen) field.current?.focus();
  }, [isOpen]);

  if (stage === 'sent') {
    return (
      <p className="small" role="status">
        <Fill text={strings.mailSent} email={clamp(email, 80)} />
      </p>
    );
  }
  const open = () => {
    actions.stay();
    setStage('asking');
  };
  if (stage === 'offered') {
    return (
      <p className="aside needs-script">
        <button type="button" className="quiet" onClick={open}>
          {strings.mailReceipt}
        </button>
      </p>
    );
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setStage('sending');
    setStage((await actions.mailReceipt(email)) ? 'sent' : 'failed');
  };
  return (
    <form className="mail" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id} className="small">
        {strings.mailAddress}
      </label>
      <div className="mail-line">
        <input
          ref={field}
          id={id}
          className="field"
          type="email"
          dir="ltr"
          required
          maxLength={254}
          autoComplete="email"
          value={email}
          aria-describedby={`${id}-problem`}
          onChange={(event) => setEmail(event.target.value)}
        />
        <button type="submit" className="button button-small" disabled={stage === 'sending'}>
          {strings.mailSend}
        </button>
      </div>
      <p id={`${id}-problem`} className="small" role="status">
        {stage === 'failed' ? strings.mailFailed : ''}
      </p>
    </form>
  );
}
