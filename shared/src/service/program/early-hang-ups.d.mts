export function noteHangUps(): void;
export function takeHangUps(): { readonly isOfTerminal: boolean } | undefined;
