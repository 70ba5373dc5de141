variable "region" {
  type        = string
  description = "Where it runs"
  default     = "eu-west-3"
}

variable "password" {
  sensitive = true
}
