/** Signs of JAXStage in what a kernel sends. */

import type { KernelMessage } from "@jupyterlab/services";
import { fields, text } from "../../../wire/check";
import { PAYLOAD_TYPE } from "../../../wire/payload";


const NAME = /\bjaxstage/i;

/** Whether a message makes it likely that JAXStage is loaded: a cell that names it begins to run, or it displays something. */
export function mentionsUs(message: KernelMessage.IMessage): boolean {
  const content = fields(message.content);
  if (message.header.msg_type === "execute_input") return NAME.test(text(content.code));
  return PAYLOAD_TYPE in fields(content.data);
}
