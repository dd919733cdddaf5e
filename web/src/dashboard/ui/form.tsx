import type { ReactNode } from 'react';

interface FormProps {
  readonly onSend: (form: FormData) => unknown;
  readonly onChange?: () => void;
  readonly children: ReactNode;
}

/** A form that keeps what was typed if the change is refused. An `action` of React would empty it. */
export function Form({ onSend, onChange, children }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend(new FormData(event.currentTarget));
      }}
      onChange={onChange}
    >
      {children}
    </form>
  );
}
