/** What a user of the lab can get wrong, or a machine lack; the code is stable and stands in docs/lab.md. */
export type LabRefusalCode =
  | 'lab-needs-root'
  | 'lab-needs-tun'
  | 'lab-needs-program'
  | 'lab-input-invalid'
  | 'lab-topology-invalid'
  | 'lab-result-file';

/** Ends the lab with one sentence that says what to do, and without a stack. */
export class LabRefusal extends Error {
  readonly code: LabRefusalCode;

  constructor(code: LabRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}
