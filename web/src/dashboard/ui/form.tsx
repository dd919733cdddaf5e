import type { ReactNode } from 'react';

interface FormProps {
  readonly onSend: (form: FormData) => unknown;
  readonly onChange?: () => void;
  readonly children: ReactNode;
}

/** A form that keeps its values if the change is refused. A React `action` would empty it. */
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
