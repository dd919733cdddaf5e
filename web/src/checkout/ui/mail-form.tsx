import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import type { Strings } from '../strings/en.ts';
import type { Actions } from './actions.ts';

export interface MailFormProps {
  readonly actions: Pick<Actions, 'mailReceipt'>;
  readonly strings: Strings;
  readonly locale: string;
}

/**
 * Sends a receipt to an address that the payer enters. The form imports no module of the page, because a shared module would split
 * the page's script into several files.
 */
export function MailForm({ actions, strings, locale }: MailFormProps) {
  const [stage, setStage] = useState<'asking' | 'sending' | 'sent' | 'failed'>('asking');
  const [email, setEmail] = useState('');
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);

  if (stage === 'sent') {
    return (
      <p className="small" role="status">
        {strings.mailSent.replace('{email}', () => email)}
      </p>
    );
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setStage('sending');
    const answer = await actions.mailReceipt?.({ email, language: locale });
    setStage(answer?.is === 'ok' ? 'sent' : 'failed');
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
