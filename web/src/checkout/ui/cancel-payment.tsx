import { useState } from 'react';
import { canCancel, type Flow } from '../flow-state.ts';
import type { Actions } from './actions.ts';
import { useWords } from './words.ts';

/** The button that cancels the payment. It asks for confirmation, because a cancelled payment cannot be paid any more. */
export function CancelPayment({ flow, actions }: { readonly flow: Flow; readonly actions: Actions }) {
  const { strings } = useWords();
  const [isAsking, setAsking] = useState(false);
  if (!canCancel(flow) && !flow.isCancelling) return null;
  if (!isAsking) {
    return (
      <p className="aside needs-script">
        <button type="button" className="quiet" onClick={() => setAsking(true)} disabled={flow.isCancelling}>
          {strings.cancelPayment}
        </button>
      </p>
    );
  }
  return (
    <fieldset className="ask needs-script">
      <legend className="ask-text">{strings.cancelQuestion}</legend>
      <button
        type="button"
        className="button button-small button-danger"
        onClick={actions.cancel}
        disabled={flow.isCancelling}
      >
        {strings.cancelYes}
      </button>
      <button
        type="button"
        className="button button-small"
        onClick={() => setAsking(false)}
        disabled={flow.isCancelling}
      >
        {strings.cancelNo}
      </button>
    </fieldset>
  );
}
