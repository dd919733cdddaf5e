import { useState } from 'react';
import type { Actions } from './actions.ts';
import { useWords } from './words.ts';

/** Offers a receipt by mail. The form is loaded on demand, and opening it stops the automatic return to the shop. */
export function MailReceipt({ actions }: { readonly actions: Actions }) {
  const words = useWords();
  const [form, setForm] = useState<typeof import('./mail-form.tsx')>();
  if (form) return <form.MailForm {...words} actions={actions} />;
  const open = () => {
    actions.stay();
    // If loading fails, the button stays for another try.
    import('./mail-form.tsx').then(setForm, () => {});
  };
  return (
    <p className="aside needs-script">
      <button type="button" className="quiet" onClick={open}>
        {words.strings.mailReceipt}
      </button>
    </p>
  );
}
